"""A table of the digits that is made again in seconds."""

TINY = """
about: Two methods on the digits.
paper: no paper
tables: [Table 1, Table 2]
dataset: digits
deviation: figures are made up
networks:
  gaussian: {recipe: digits-gaussian}
  stability: {recipe: digits-stability}
parts:
  sigma-0.25:
    noise: 0.25
    radii: [0, 0.25, 0.5]
    baseline: gaussian
    tables: [Table 1]
    rows:
      gaussian:
        label: Gaussian
        members: {gaussian: 1}
        published:
          acr: 0.2
          accuracy: [90, 50]
          over_seeds: [0.21, 0.01]
          log: {images: {stop: 24, every: 2}, acr: 0.19, accuracy: [88, 48, 20]}
      stability: {members: {stability: 1}, published: {acr: 0.3, accuracy: [91, null, 12.5]}}
      soft: {members: {gaussian: 2}, rule: soft, published: {acr: 0.4}}
      hard: {members: {gaussian: 2}, rule: hard, published: {acr: 0.35}}
      fitted: {members: {gaussian: 2}, fit: soft, published: {acr: 0.35}}
      envelope: {members: {gaussian: 2}, envelope: true, published: {acr: 0.25}}
      staged:
        members: {gaussian: 5}
        early_exit: {kind: consensus, k: 2}
        order_by_holdout: true
        radius: 0.25
        stages: [64, 256]
        tables: [Table 2]
        published: {accuracy: [50], figures: {sample_reduction: 20, consensus_rate: 80, returned_1: 60}}
      rounded-group:
        members: {gaussian: 1}
        precision: int8
        radius: 0.25
        procedure: group
        tables: [Table 2]
        figures: [sample_reduction]
  sigma-0.5:
    noise: 0.5
    radii: [0, 0.5]
    rows:
      gaussian: {members: {gaussian: 1}, published: {acr: 0.3, accuracy: [80, 40]}}
budgets:
  minutes:
    parts: [sigma-0.25]
    most_members: 3
    images: {stop: 24, every: 2}
    votes: 200
    training: {epochs: 2, max_train_images: 400, batch_size: 20}
    networks: {stability: {start: gaussian, settings: {lbd: 1.0}}}
  hours:
    images: {stop: 24}
    training: {epochs: 2}
  paper: {images: {stop: 400}}
"""
"""All kinds of rows: networks, rules, fitted weights, an envelope, stages with a consensus."""
