package Objects "External objects that are made in the initial system, and calls that act on them"
  class Store
    extends ExternalObject;
    function constructor
      input Integer size;
      output Store store;
    external "C" store = store_new(size) annotation(Include = "
#ifndef STORE
#define STORE
#include <stdlib.h>
typedef struct { int size, calls; double total; } store;
static int store_made;
static void *store_new(int size)
{
    store *s = calloc(1, sizeof *s);
    s->size = size;
    store_made++;
    return s;
}
static void store_free(void *p)
{
    store_made--;
    free(p);
}
static void store_add(void *p, double u, double *total, int *calls, int *size)
{
    store *s = p;
    s->total += u;
    *total = s->total;
    *calls = ++s->calls;
    *size = s->size;
}
static void store_last(void *p, double *total, int *size)
{
    *total = ((store *)p)->total;
    *size = ((store *)p)->size;
}
static int store_count(void *p) { return p == NULL ? -1 : store_made; }
static void store_name(void *p, double u, const char **name, double *y)
{
    *name = ((store *)p)->size > 5 ? \"large\" : \"small\";
    *y = 2 * u;
}
#endif
");
    end constructor;
    function destructor
      input Store store;
    external "C" store_free(store);
    end destructor;
  end Store;

  function add "Adds to what is stored; how often it was called"
    input Store store;
    input Real u;
    output Real total;
    output Integer calls;
    output Integer size;
  external "C" store_add(store, u, total, calls, size);
  end add;

  function made "How many objects there are"
    input Store store;
    output Integer n;
  external "C" n = store_count(store);
  end made;

  function name
    input Store store;
    input Real u;
    output String text;
    output Real y;
  external "C" store_name(store, u, text, y);
  end name;

  model Late "The size is known when the initial equations are solved; every sample adds once"
    parameter Integer n = 2;
    Integer size;
    Store store = Store(size);
    discrete Real total(start = 0, fixed = true);
    discrete Integer calls(start = 0, fixed = true), seen(start = 0, fixed = true), objects(start = 0, fixed = true);
    String text(start = "none", fixed = true);
    discrete Real doubled(start = 0, fixed = true);
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x;
    when initial() then
      size = 3*n;
    end when;
    when sample(0.05, 0.1) then
      (total, calls, seen) = add(store, 2);
      objects = made(store);
    end when;
    when x < 0.9 then
      (text, doubled) = name(store, x);
    end when;
  end Late;

  record Data
    parameter Integer size = 3;
    Store store = Store(size);
  end Data;

  model Reader
    parameter Data data;
    discrete Integer objects(start = 0, fixed = true);
  equation
    when sample(0.05, 0.1) then
      objects = made(data.store);
    end when;
  end Reader;

  model HandedOn "One object in records of three"
    parameter Data data;
    Reader first(data = data), second(data = first.data);
  end HandedOn;

  function last "What is stored now"
    input Store store;
    output Real total;
    output Integer size;
  external "C" store_last(store, total, size);
  end last;

  function put "Adds; hands on when that was done"
    input Store store;
    input Real u;
    input Real turn;
    output Real done;
  protected
    Real total;
    Integer calls, size;
  algorithm
    (total, calls, size) := add(store, u);
    done := turn;
  end put;

  function take "Reads; hands on when that was done"
    input Store store;
    input Real turn;
    output Real total;
    output Integer size;
    output Real done;
  algorithm
    (total, size) := last(store);
    done := turn;
  end take;

  connector Port
    Store store;
    Integer size;
    Real turn;
  end Port;

  model Maker "Makes the object at the first tick, of a size that others ask for"
    Port port;
    Integer size;
    Boolean started(start = false);
    Real ticks(start = 0);
  equation
    if not previous(started) then
      size = 2*port.size;
      port.store = Store(size);
      started = true;
    else
      size = previous(size);
      port.store = previous(port.store);
      started = previous(started);
    end if;
    ticks = previous(ticks) + 1;
    port.turn = ticks;
  end Maker;

  model Spare "Makes one of its own, in an algorithm"
    Store store;
    Boolean started(start = false);
    Integer size;
    Real total;
    input Real turn;
  algorithm
    if not started then
      store := Store(7);
      started := true;
    else
      store := previous(store);
      started := previous(started);
    end if;
  equation
    (total, size) = take(store, turn);
  end Spare;

  model FirstTick "What is read at a tick has been put there at the same tick"
    parameter Integer n = 2;
    Maker maker;
    Port port;
    Real total, done, put_done;
    Integer seen;
    Spare spare(turn = port.turn);
    Real y = hold(total), z = hold(seen), w = hold(spare.size);
  equation
    connect(maker.port, port);
    when Clock() then
      port.size = 3*n;
      (total, seen, done) = take(port.store, put_done);
    end when;
    put_done = put(port.store, sample(1.0, Clock(1, 10)), port.turn);
  end FirstTick;

  impure function wait "Asks the system to wait, and gives what it was told"
    input Real seconds;
    output Integer told;
  external "C" told = wait_for(seconds) annotation(Include = "
#include <time.h>
static int wait_for(double seconds)
{
    const struct timespec t = {(time_t)seconds, 0};
    return nanosleep(&t, NULL) + clock_nanosleep(CLOCK_MONOTONIC, 0, &t, NULL);
}
");
  end wait;

  model Waits "External code that holds the simulation, for a day at every sample"
    discrete Integer told(start = -1, fixed = true), samples(start = 0, fixed = true);
    Real x(start = 1, fixed = true);
  equation
    der(x) = -x;
    when sample(0.01, 0.01) then
      told = wait(86400);
      samples = pre(samples) + 1;
    end when;
  end Waits;

  impure function fail_in_thread "A thread of external code that gives up"
    input Real u;
    output Real y;
  external "C" y = thread_that_fails(u) annotation(Include = "
#include <pthread.h>
#include \"ModelicaUtilities.h\"
static void *the_thread(void *unused)
{
    (void)unused;
    ModelicaFormatError(\"no device %d\", 7);
    return NULL;
}
static double thread_that_fails(double u)
{
    pthread_t thread;
    if (u > 0.5 && pthread_create(&thread, NULL, the_thread, NULL) == 0) {
        pthread_join(thread, NULL);
    }
    return u;
}
");
  end fail_in_thread;

  model FailsInThread
    discrete Real y(start = 0, fixed = true);
  equation
    when sample(0.1, 0.1) then
      y = fail_in_thread(time);
    end when;
  end FailsInThread;
end Objects;
