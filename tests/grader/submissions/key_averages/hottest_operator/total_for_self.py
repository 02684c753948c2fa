def hottest_operator(prof):
    operators = [row for row in prof.key_averages() if row.key.startswith("aten::")]
    return sorted(operators, key=lambda row: row.device_time_total)[-1].key
