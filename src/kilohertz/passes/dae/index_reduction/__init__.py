"""Parts of `reduce_index.py`: pivots of a constraint Jacobian, states chosen before and in the run, what was done."""
