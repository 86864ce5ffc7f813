# ANCHOR: axis_sum_solution
def axis_sum():
    barrier()


# ANCHOR_END: axis_sum_solution
