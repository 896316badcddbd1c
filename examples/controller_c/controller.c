/* A position controller for a running task: receives position and velocity, sends a force.
 *
 *     cc -O2 -I"$(python -c 'from kilohertz.devices import include_directory as i; print(i())')" \
 *        controller.c -o controller
 *     ./controller udp://127.0.0.1:5000 127.0.0.1:5001
 *     ./controller shm:///khz */
#include <stdio.h>

#include "khz_client.h"

int main(int argc, char **argv)
{
    static khz_client task; /* static: it holds room for the largest message */
    const char *address = argc > 1 ? argv[1] : "udp://127.0.0.1:5000";
    const char *local = argc > 2 ? argv[2] : "127.0.0.1:5001";
    double y[2], u[1];
    if (khz_client_open(&task, address, local, 2, 1, 60000) != 0) {
        perror(address);
        return 1;
    }
    int patience_ms = 60000; /* until the task is there; then silence means its end */
    while (khz_client_receive(&task, y, patience_ms) > 0) {
        u[0] = 100.0 * (0.5 - y[0]) - 20.0 * y[1];
        khz_client_send(&task, u);
        patience_ms = 500;
    }
    printf("received %llu, sent %llu\n", (unsigned long long)task.n_received, (unsigned long long)task.sequence);
    khz_client_close(&task);
    return 0;
}
