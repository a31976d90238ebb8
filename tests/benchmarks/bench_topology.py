    print(  # noqa: T201 - a benchmark reports
        f"\n{len(graph):,} nodes: networkx tree {plain:.2f} s, from_graph {own:.2f} s, "
            f"{own / plain:.1f} times; "
        f"without GPUs {counts:.2f} s, JSON {json:.2f} s"
    )
