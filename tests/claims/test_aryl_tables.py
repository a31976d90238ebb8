"""Percentages and ratios in Aryl's text, recomputed from the tables that they are taken from."""

from statistics import mean

import pytest

from tests.claims.printed import printed

#: What the text prints, and the two figures of a table that give it: the first divided by the second.
RATIOS = {
    "Table 5: queueing, baseline to Basic": ("1.53", 3072, 2008),
    "Table 5: JCT, baseline to Basic": ("1.50", 16610, 11089),
    "Table 5: 95th percentile of the JCT, baseline to Basic": ("1.47", 82933, 56477),
    "Table 5: queueing, baseline to Advanced": ("1.68", 3072, 1833),
    "Table 5: JCT, baseline to Advanced": ("1.60", 16610, 10402),
    "Table 5: queueing, Basic to Advanced": ("1.10", 2008, 1833),
    "Table 5: JCT, Basic to Advanced": ("1.07", 11089, 10402),
    "Table 5: GPU usage, baseline to Basic": ("1.269", 0.66, 0.52),
    "Table 5: GPU usage, baseline to Ideal": ("1.385", 0.72, 0.52),
    "Table 5: queueing, baseline to loaning": ("1.39", 3072, 2204),
    "Table 5: JCT, baseline to loaning": ("1.34", 16610, 12414),
    "Table 5: queueing, baseline to scaling": ("1.35", 3072, 2275),
    "Table 5: JCT, baseline to scaling": ("1.38", 16610, 12048),
    "Table 5: queueing, SCF": ("1.26", 2791, 2204),
    "Table 5: queueing, Random": ("1.28", 2843, 2204),
    "Table 5: JCT, SCF": ("1.20", 14965, 12414),
    "Table 5: JCT, Random": ("1.18", 14657, 12414),
    "Table 5: median queueing, Pollux": ("1.23", 58, 47),
    "Table 5: 95th percentile of queueing, Pollux": ("1.69", 5883, 3475),
    "Table 5: median JCT, Pollux": ("1.20", 721, 602),
    "Table 5: 95th percentile of the JCT, Pollux": ("1.25", 72123, 57597),
    "Table 5: JCT, AFS": ("1.2", 15045, 12048),
    "Table 5: queueing, Pollux to tuned jobs": ("1.35", 2791, 2054),
    "Table 5: JCT, Pollux to tuned jobs": ("1.42", 14534, 10229),
    "Table 5: 95th percentile of the JCT, Pollux to tuned jobs": ("1.37", 72123, 52458),
    "Table 5: JCT with imperfect scaling, Ideal": ("1.19", 10564, 8874),
    "Table 6: preemptions without special placement, Ideal": ("2.13", 11.89, 5.57),
    "Table 7: median queueing on loaned servers": ("4.72", 1283, 272),
    "Table 7: 95th percentile of queueing on loaned servers": ("3.22", 23351, 7249),
    "Table 8: queueing": ("1.38", 1532, 1109),
    "Table 8: 95th percentile of queueing": ("1.36", 1003, 738),
    "Table 8: JCT": ("1.22", 4078, 3335),
    "Table 8: JCT, elastic scaling": ("1.19", 4078, 3413),
    "Table 8: JCT, Pollux": ("1.15", 4078, 3552),
    "Table 10: running time of GNMT on 8 V100 and 8 T4": ("1.34", 47, 35),
}

#: The same where the table gives something else, and what it gives.
OTHERS = {
    "Table 5: median JCT, Pollux to tuned jobs": ("1.32", 721, 564, 1.28),
    "Table 5: preemptions, Random": ("1.67", 20.89, 12.34, 1.69),
    "Table 5: queueing, Basic to Ideal": ("1.12", 2008, 1157, 1.74),
    "Table 5: JCT, Basic to Ideal": ("1.37", 11089, 8874, 1.25),
    "Table 8: JCT, AFS": ("1.14", 4078, 3521, 1.16),
    "Table 9 and Table 5: queueing with exact running times": ("2.37", 3072, 2008, 1.53),
    "Table 9 and Table 8: queueing with exact running times": ("2.37", 1532, 1109, 1.38),
    "Table 9 and Table 5: JCT with exact running times": ("1.57", 16610, 11089, 1.50),
    "Table 9 and Table 8: JCT with exact running times": ("1.57", 4078, 3335, 1.22),
}

#: Percentages by which a figure of Table 8 is less than another.
DROPS = {
    "median JCT": ("19.9", 2183, 1747),
    "95th percentile of the JCT": ("11.7", 3096, 2731),
    "queueing, Random": ("19", 1527, 1230),
    "95th percentile of queueing, AFS": ("10", 882, 798),
}

#: Table 10: throughput in theory and measured, by the V100 and T4 of a job.
TABLE_10 = {
    "ResNet-50": (18883, {(12, 4): (15342, 14383), (8, 8): (11801, 9823), (4, 12): (8261, 7297)}),
    "GNMT": (791771, {(12, 4): (643313, 484684), (8, 8): (494856, 436631), (4, 12): (346399, 312033)}),
    "BERT": (1572, {(24, 8): (1277, 923), (16, 16): (982, 874), (8, 24): (687, 655)}),
}


@pytest.mark.parametrize("name", RATIOS)
def test_ratios_agree_with_their_tables(name: str) -> None:
    """The text prints the ratio of two figures of the table, rounded or cut off."""
    text, first, second = RATIOS[name]
    assert printed(first / second, text)


@pytest.mark.parametrize("name", OTHERS)
def test_ratios_that_their_tables_do_not_give(name: str) -> None:
    """The table gives another ratio than the text, rounded or cut off."""
    text, first, second, given = OTHERS[name]
    assert not printed(first / second, text)
    assert round(first / second, 2) == given


@pytest.mark.parametrize("name", DROPS)
def test_drops_agree_with_table_8(name: str) -> None:
    """The text prints by how many per cent one figure is below the other, rounded or cut off."""
    text, first, second = DROPS[name]
    assert printed(100 * (1 - second / first), text)


def test_queueing_against_smallest_count_first_on_the_testbed() -> None:
    """Table 8 gives 16 % where the text prints 15 %."""
    assert int(100 * (1 - 1230 / 1473)) == 16


def test_rises_without_special_placement() -> None:
    """Table 6 gives 11 and 25 % for queueing and JCT in Basic where the text prints "up to 10 % and 20 %"."""
    assert (round(100 * (2231 / 2008 - 1)), round(100 * (13864 / 11089 - 1))) == (11, 25)


def test_tuned_jobs_in_the_95th_percentile() -> None:
    """From Aryl to tuned jobs Table 5 gives 9 %, or 6 % of the baseline, where the text prints 18 %."""
    saved = 57597 - 52458
    assert (round(100 * saved / 57597), round(100 * saved / 82933)) == (9, 6)


def test_the_37_per_cent_are_those_of_the_95th_percentile() -> None:
    """From Basic to Ideal the average JCT falls by a factor of 1.25, its 95th percentile by 1.37."""
    assert printed(56477 / 41146, "1.37")
    assert not printed(11089 / 8874, "1.37")


def test_theoretical_throughput_of_table_10_takes_a_t4_for_a_quarter() -> None:
    """Every theoretical figure is that of the V100 alone, times V100 plus a quarter of the T4."""
    for alone, mixtures in TABLE_10.values():
        for (strong, weak), (theory, _) in mixtures.items():
            assert theory == pytest.approx(alone * (strong + weak / 4) / (strong + weak), abs=1)


def test_the_degradation_of_27_per_cent_is_the_largest() -> None:
    """Measured throughput is 14 % below theory on average over the nine mixtures; 28 % is the worst of them."""
    losses = [
        100 * (1 - measured / theory)
        for _, mixtures in TABLE_10.values()
        for theory, measured in mixtures.values()
    ]
    assert round(mean(losses)) == 14
    assert printed(max(losses), "27")


def test_clusters_are_of_eight_gpus_a_server() -> None:
    """443 servers of eight GPUs are 3,544, and the 4,160 GPUs of the inference cluster are 520 servers."""
    assert (443 * 8, 4160 / 8) == (3544, 520)


def test_jobs_on_loaned_servers_run_no_longer_by_table_7() -> None:
    """JCT minus queueing, the means of Table 7, is less on loaned servers than without them: none is slower."""
    baseline, aryl = 11_547 - 4_573, 6_832 - 1_029

    assert aryl < baseline


def test_inference_uses_a_third_of_its_gpus_by_table_5() -> None:
    """The baseline's 0.72 of 3,544 GPUs and 0.52 of all 7,704 leave 0.35 of 4,160 for inference, not 0.65."""
    inference = (0.52 * (3544 + 4160) - 0.72 * 3544) / 4160

    assert round(inference, 2) == 0.35
