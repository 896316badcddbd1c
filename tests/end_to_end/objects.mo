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
end Objects;
