/* Every number by which loops of equations are judged, with its reason.  Caps are enumerators, so that the cost bound
 * (kilohertz/cost) counts with the same ones; the others are parts of something, without a unit.
 *
 * Doubles have 16 digits.  A solution is trusted to 10 of them, an equation that agrees to 8 or more is called
 * consistent, and what is below 12 is rounding: the distances between the numbers below follow from that.  Singles have
 * 7: a solution is trusted to 5 of them, an equation that agrees to 3 or 4 is consistent, and below 6 is rounding. */
#ifndef KHZ_LIMITS_H
#define KHZ_LIMITS_H

#include "khz_number.h"

/* Part of a value by which it differs where a loop is solved anew, or where a relation was found at rest. */
#define KHZ_NOISE KHZ_BY_NUMBER(1e-9, 1e-5f)

/* ------------------------------------------------------------------------------------------------- Newton iteration */

enum {
    KHZ_NEWTON_CAP = 50,      /* iterations off-line: a damped iteration that converges at all has done so before */
    KHZ_RESCUE_CAP = 100,     /* Levenberg-Marquardt: converges linearly where Newton does not at all */
    KHZ_USUAL_NEWTON = 4,     /* iterations of a solution in a regular step of real time; more are a detour */
    KHZ_EVENT_NEWTON = 4,     /* times the cap of a step at an event: its solution may be far from the present values */
    KHZ_NEWTON_CUTS = 12,     /* halvings: 1/4096 of a step is no progress any more */
    KHZ_TURN_BISECTIONS = 50, /* along a step that turned residuals round: to the last bit of its length */
    /* What a step of real time has for all its nonlinear loops together, times their number up to the last of these:
     * iterations beyond the cap of each solution, in caps, with one more for so many stages; residuals beyond one for
     * each iteration, with so many more for a stage.  A loop that has jumped needs them once, not in every pass and
     * stage: a bridge of diodes took 24 and 104 at most with 4 stages, 45 and 415 with 9, 78 and 459 with 20. */
    KHZ_SPARE_ITERATIONS = 3,
    KHZ_SPARE_STAGES = 2,
    KHZ_SPARE_TRIALS = 60,
    KHZ_STAGE_TRIALS = 40,
    KHZ_SPARE_LOOPS = 8
};

/* On the step, relative to the unknowns: convergence is quadratic, so that the error left is far below it. */
#define KHZ_NEWTON_TOLERANCE KHZ_BY_NUMBER(1e-10, 1e-5f)
/* ... and in singles a step that was cut so short is no sign of it where the whole was longer than this. */
#define KHZ_NEWTON_WHOLE 1e-4f
/* Decrease of the squared residual that a step has to bring, as a part of its length (Armijo). */
#define KHZ_NEWTON_DECREASE KHZ_BY_NUMBER(1e-4, 1e-4f)
/* Squared residual, relative to its rows: 10 digits are right, and no step makes it better. */
#define KHZ_NEWTON_SOLVED KHZ_BY_NUMBER(1e-20, 1e-11f)
/* ... where the step that would be the next is not longer than this: noise of ill-conditioned equations, no way left.
 */
#define KHZ_NEWTON_NEAR KHZ_BY_NUMBER(1e-4, 1e-3f)
/* ... or all of it is rounding: where equations follow from one another there is no Newton step. */
#define KHZ_NEWTON_EXACT KHZ_BY_NUMBER(1e-24, 1e-12f)
/* Below this part of its nominal value an unknown moves by the nominal value's difference, not by its own. */
#define KHZ_DIFFERENCE_LEAST KHZ_BY_NUMBER(1e-2, 1e-2f)
/* Way to a bound that a step may go: on the bound itself equations may have no value. */
#define KHZ_WAY_TO_BOUND KHZ_BY_NUMBER(0.9, 0.9f)
/* A whole step that leaves more of the squared residual than this (half of the residual) is looked at for a turn. */
#define KHZ_TURN_SUSPECT KHZ_BY_NUMBER(0.25, 0.25f)
/* What is left of the residuals that turned when the place is found: a thousandth; the next step does the rest. */
#define KHZ_TURN_FOUND KHZ_BY_NUMBER(1e-3, 1e-3f)
/* A squared residual so much smaller than all together is rounding, and has no say in where they turned. */
#define KHZ_TURN_ROUNDING KHZ_BY_NUMBER(1e-12, 1e-12f)

/* ----------------------------------------------------------------------------------- Newton, one and two unknowns */

enum {
    KHZ_FEW = 2,          /* unknowns at most */
    KHZ_FEW_CAP = 6,      /* iterations; where they do not end khz_newton begins anew */
    KHZ_USUAL_FEW = 3,    /* of a solution in a regular step of real time, ... */
    KHZ_USUAL_FEW_NEW = 2 /* ... and Jacobians; more are a detour */
};
/* What is left of the unknowns when they are solved, beside their own sizes, or this part of their nominal values where
 * they are smaller: rounding. */
#define KHZ_FEW_LEFT KHZ_BY_NUMBER(1e-13, 1e-6f)
#define KHZ_FEW_LEAST KHZ_BY_NUMBER(1e-2, 1e-2f)
/* A step is as usual where the next one would be so much smaller. */
#define KHZ_FEW_SHRINKS KHZ_BY_NUMBER(0.25, 0.25f)

/* --------------------------------------------------------------------------------- rescue, off-line and at the start
 */

enum {
    KHZ_RESCUE_POINTS = 9,       /* the guess and eight beside it, see `shifts` in khz_newton.c */
    KHZ_OTHER_SIZES = 5,         /* parts and multiples of a guess at which the equations have no value: resized */
    KHZ_BRACKET_DECADES = 14,    /* on both sides of the nominal value: all sizes that have digits beside it */
    KHZ_BRACKET_PER_DECADE = 4,  /* points */
    KHZ_BRACKET_BISECTIONS = 80, /* from a factor of 2 to neighbouring doubles, with some to spare near zero */
    KHZ_ENCLOSE_POINTS = 14,     /* on each side of the guess of a step, up to some 60 times its size */
    KHZ_ENCLOSE_TURNS = 80,      /* between two of them to the tolerance, by halves of the step and of the distance */
    KHZ_FAR_POINTS = 3,          /* sizes, in nominal values, of guesses instead of absurd ones: see go_far */
    KHZ_PATH_STRIDES = 200,      /* solutions along a path from the guess, and iterations of each */
    KHZ_PATH_NEWTON = 12
};

/* Distance of the first points from the guess, as a part of its size, and of each further ones as a multiple. */
#define KHZ_ENCLOSE_FIRST KHZ_BY_NUMBER(1e-6, 1e-4f)
#define KHZ_ENCLOSE_MORE KHZ_BY_NUMBER(4.0, 4.0f)

/* Strides along a path from the guess, as parts of it: the first, after success and failure, and the least. */
#define KHZ_PATH_FIRST KHZ_BY_NUMBER(0.125, 0.125f)
#define KHZ_PATH_MORE KHZ_BY_NUMBER(2.0, 2.0f)
#define KHZ_PATH_LESS KHZ_BY_NUMBER(0.25, 0.25f)
#define KHZ_PATH_LEAST KHZ_BY_NUMBER(1e-8, 1e-5f)
/* Twice the first step of an iteration there at most, beside the unknowns: else it may end on another path. */
#define KHZ_PATH_FAR KHZ_BY_NUMBER(2.0, 2.0f)

/* Times its nominal value: a guess larger than that is a unit mistaken, or worse. */
#define KHZ_ABSURD KHZ_BY_NUMBER(1e6, 1e6f)

/* Damping of Levenberg-Marquardt: at first, after success and failure (Nielsen 1999 has 1/3 and 2), and the least. */
#define KHZ_DAMPING_FIRST KHZ_BY_NUMBER(1e-3, 1e-3f)
#define KHZ_DAMPING_LESS KHZ_BY_NUMBER(0.2, 0.2f)
#define KHZ_DAMPING_MORE KHZ_BY_NUMBER(8.0, 8.0f)
#define KHZ_DAMPING_LEAST KHZ_BY_NUMBER(1e-15, 1e-8f)
/* Of the residuals at both ends: where a sign changes and this much is left it is a pole, not a root. */
#define KHZ_BRACKET_ROOT KHZ_BY_NUMBER(1e-6, 1e-4f)

/* -------------------------------------------------------------------------------------------------- a kept Jacobian */

/* Of the step before: a Jacobian that gives more is too old. */
#define KHZ_KEPT_ENOUGH KHZ_BY_NUMBER(0.25, 0.25f)
/* Size of a step that teaches more than rounding. */
#define KHZ_KEPT_LESSON KHZ_BY_NUMBER(1e-7, 1e-4f)
/* Lessons of one solution at most, and one: then the Jacobian is factorised with what it has learnt. */
enum { KHZ_KEPT_LESSONS = 4 };
/* Iterations of a solution in a regular step of real time; more are a detour. */
enum { KHZ_USUAL_KEPT = 4 };
/* Beyond the last solution, as a part of the time before it, a curve through solutions is followed no further. */
#define KHZ_PAST_FAR KHZ_BY_NUMBER(2.0, 2.0f)
/* With so many iterations a solution is near enough as it begins: one by a kept Jacobian, and one that shows it right.
 */
enum { KHZ_PAST_IDLE = 2 };
/* Iterations that a new Jacobian with its factors is worth, about. */
#define KHZ_KEPT_WORTH KHZ_BY_NUMBER(3.0, 3.0f)
/* Of the tolerance: the next step is an estimate, no bound. */
#define KHZ_KEPT_SAFE KHZ_BY_NUMBER(0.1, 0.1f)

/* -------------------------------------------------------------------------------- what a cap or a bound leaves behind
 */

/* Of the residual before: a cap that was hit leaves its values where it came so far, else the guess. */
#define KHZ_CAP_CLEARLY KHZ_BY_NUMBER(0.3, 0.3f)
/* Of an unknown's size: so far out of min and max is rounding. */
#define KHZ_BOUND_SLACK KHZ_BY_NUMBER(1e-6, 1e-5f)

/* ------------------------------------------------------------------------------------------------- linear equations */

/* A pivot below n times this part of its column is lost in rounding: a few units in the last place. */
#define KHZ_PIVOT_LOST (KHZ_BY_NUMBER(4.0, 4.0f) * KHZ_EPSILON)
/* The same for a planned order of pivots, which cannot choose: of the sum that the pivot is what is left of, and how
 * much larger than the row the numbers on the way may be.  8 digits remain; else the dense factorisation is taken. */
#define KHZ_PLANNED_PIVOT_LOST KHZ_BY_NUMBER(1e-8, 1e-4f)
#define KHZ_PLANNED_GROWTH KHZ_BY_NUMBER(1e8, 1e4f)
/* Multiple of a planned pivot's row that is subtracted from a row it could not be exchanged with: 3 digits, as sparse
 * solvers allow it; beyond, the dense factorisation is taken. */
#define KHZ_PLANNED_MULTIPLE KHZ_BY_NUMBER(1e3, 1e3f)
/* Up to so many unknowns the solution by dense factors is compiled for each number of them apart. */
enum { KHZ_FEW_UNKNOWNS = 6 };
/* From so many unknowns on a matrix with few entries is factorised as such where no plan suits it: below, the dense way
 * is as quick.  It gives up after n^3 divided by the second number of products, a twentieth of the dense way's work. */
enum { KHZ_PIVOTED_LEAST = 64, KHZ_PIVOTED_PRODUCTS = 64 };
/* Of the largest entry of a column: what is large enough to be a pivot there.  One digit, as sparse solvers have it. */
#define KHZ_PIVOTED_ENOUGH KHZ_BY_NUMBER(0.1, 0.1f)
/* Dependent columns at most of a large system without room for a full matrix (khz_scattered.h): for each a direction in
 * which solutions are free. */
enum { KHZ_MOST_LOST = 32 };
/* A determinant below this part of its products has lost 6 digits: the factorisation is taken instead. */
#define KHZ_DETERMINANT_LOST KHZ_BY_NUMBER(1e-6, 1e-3f)
/* Rank: a column below n times this part of the first is rounding of the others. */
#define KHZ_RANK_LOST KHZ_BY_NUMBER(1e-12, 1e-5f)
/* Singular equations agree where what remains is below this part of the right-hand side; a direction need not be so
 * good as a solution, since the next one corrects it. */
#define KHZ_CONSISTENT KHZ_BY_NUMBER(1e-8, 1e-4f)
#define KHZ_CONSISTENT_DIRECTION KHZ_BY_NUMBER(1e-6, 1e-3f)
/* ... and below this part of that where the right-hand side is all but zero; rows have size one. */
#define KHZ_CONSISTENT_LEAST KHZ_BY_NUMBER(1e-6, 1e-3f)

/* ------------------------------------------------------------------------------------------------------ mixed loops */

enum {
    KHZ_MIXED_TOGETHER = 12, /* turns with all relations at once: real models settle in two or three */
    KHZ_MIXED_ALL = 4,       /* relations of which every mode is tried next: 16 turns */
    KHZ_MIXED_CAP = 300,     /* turns of a walk, where there are more */
    KHZ_MIXED_LATELY = 4,    /* turns in which it leaves alone what it changed, as long as there is something else */
    KHZ_MIXED_FEW = 8,       /* relations of which every mode is tried where the walk found none: 256 turns */
    /* Turns in a step of real time that the model allows itself (khz_model.mode_cap): so many, or three for two
     * relations of its largest loop where that is more (14 at most were seen; 25 with the 28 relations of a gearbox).
     */
    KHZ_MIXED_SOON = 16,
    /* Each pass of an event after these takes so many of the turns: six passes where four were seen. */
    KHZ_MIXED_PASSES = 3,
    KHZ_MIXED_PASS = 5,
    /* Turns that a linear system takes in a search: one whose numbers do not suit its plan, and the minimum-norm
     * solution of a singular one. */
    KHZ_MIXED_UNPLANNED = 1,
    KHZ_MIXED_SINGULAR = 2,
    /* Newton iterations of a search off-line: after so many nonlinear loops are no longer solved with all means; after
     * so many it ends where a mode has no solution.  What is found at all has taken some tens. */
    KHZ_MIXED_MEANS = 1000,
    KHZ_MIXED_ITERATIONS = 2000,
    KHZ_MIXED_FRUITLESS = 8, /* searches one after the other that found nothing: each halves what the next may take */
    KHZ_MIXED_CHECK = 3      /* turns that tell whether the nearest mode contradicts itself */
};

/* A relation is wrong by rounding where it is no further from agreeing than this part of the largest distance it had,
 * or than this. */
#define KHZ_MIXED_ROUNDING KHZ_BY_NUMBER(1e-8, 1e-5f)
#define KHZ_MIXED_LEAST KHZ_BY_NUMBER(1e-12, 1e-6f)

#endif
