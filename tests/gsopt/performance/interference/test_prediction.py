"""What a prediction gives."""

from gsopt.performance.interference import PairTable, Prediction, Profile

A, B = Profile(name="a", features={}), Profile(name="b", features={})


def test_no_job_is_sped_up() -> None:
    """Estimates below 1 are slowdowns of 1, those beyond what data may have are that; the others stay."""
    assert Prediction(lambda _: [0.2, 3.5, 1e9]).slowdowns([(A, A), (A, B), (B, B)]) == [1.0, 3.5, 1e6]


def test_what_was_measured_stays() -> None:
    """Only gaps are filled, and each direction of a pair on its own."""
    table = PairTable(profiles=[A, B], slowdowns={"a": {"b": 1.25}, "b": {"a": 1.0}})
    prediction = Prediction(lambda pairs: [2.0 if one.name == "a" else 3.0 for one, _ in pairs])
    assert prediction.filled(table) == {"a": {"a": 2.0, "b": 1.25}, "b": {"a": 1.0, "b": 3.0}}
