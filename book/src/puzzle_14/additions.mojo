from std.testing import assert_equal


def one_thread(mut x: List[Int]) -> Tuple[Int, Int]:
    """One addition after the other. Gives the additions and the steps."""
    for i in range(1, len(x)):
        x[i] += x[i - 1]
    return (len(x) - 1, len(x) - 1)


def hillis_steele(mut x: List[Int]) -> Tuple[Int, Int]:
    """This puzzle: all elements in every step, with offset 1, 2, 4 and so on.
    """
    var additions, steps = (0, 0)
    var offset = 1
    while offset < len(x):
        # From the last element down: x[i - offset] still holds its old value.
        for i in reversed(range(offset, len(x))):
            x[i] += x[i - offset]
            additions += 1
        steps += 1
        offset *= 2
    return (additions, steps)


def work_efficient(mut x: List[Int]) -> Tuple[Int, Int]:
    """A reduction tree, and a second tree that fills in the rest."""
    var additions, steps = (0, 0)
    var offset = 1
    while offset < len(x):
        for i in range(2 * offset - 1, len(x), 2 * offset):
            x[i] += x[i - offset]
            additions += 1
        steps += 1
        offset *= 2
    offset = len(x) // 4
    while offset > 0:
        for i in range(3 * offset - 1, len(x), 2 * offset):
            x[i] += x[i - offset]
            additions += 1
        steps += 1
        offset //= 2
    return (additions, steps)


def show[
    scan: def(mut x: List[Int]) thin -> Tuple[Int, Int]
](name: StaticString, size: Int) raises:
    """Scans 0, 1, 2 …, checks the result, and prints what it took."""
    var x = [i for i in range(size)]
    var additions, steps = scan(x)
    for i in range(size):
        assert_equal(x[i], i * (i + 1) // 2)
    print("  ", name, ": ", additions, " additions, ", steps, " steps", sep="")


def main() raises:
    for size in [8, 1024]:
        print(size, "elements")
        show[one_thread]("one thread", size)
        show[hillis_steele]("Hillis-Steele", size)
        show[work_efficient]("work-efficient", size)
