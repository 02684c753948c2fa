from collections import Counter


def hottest_operator(prof):
    spent = Counter()
    for event in prof.events():
        if event.name.startswith("aten::"):
            spent[event.name] += event.self_device_time_total
    return spent.most_common(1)[0][0]
