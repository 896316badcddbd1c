/* The drivers there are, and those in this program.  Private: the task finds them by name (khz_device.h). */
#ifndef KHZ_DRIVERS_H
#define KHZ_DRIVERS_H

#include "khz_device.h"

extern const khz_device_class khz_loopback; /* simulated: gives back what was sent */
extern const khz_device_class khz_udp;
extern const khz_device_class khz_shm;
extern const khz_device_class khz_tcp;
extern const khz_device_class khz_serial;
extern const khz_device_class khz_modbus_server;
extern const khz_device_class khz_modbus_client;
extern const khz_device_class khz_socketcan;
extern const khz_device_class khz_comedi;

extern const khz_device_class *const khz_linked_drivers[]; /* ends with NULL; written when a program is built */

#endif
