"""Make an ensemble of checkpoints, and see what it brings over its members from the same forward passes."""

import smoothcert as sc

# Three checkpoints. Those of papers come by sc.import_checkpoint("checkpoint.pth.tar", "models/a", ..).
folders = [f"models/member-{seed}" for seed in range(3)]
for seed, folder in enumerate(folders):
    sc.train({"epochs": 3, "seed": seed}, folder, resume=True, show_progress=False)

# Folders of ensembles point to their members; the second stops asking where the first two members agree.
sc.save_ensemble(folders, "models/soft", rule="soft")
sc.save_ensemble(folders, "models/consensus", early_exit=sc.Consensus(2))

test, procedure = sc.load_dataset("digits"), sc.FixedSample(n0=64, n=1_000)
for name in (*folders, "models/soft", "models/consensus"):
    run = sc.certify(sc.load_classifier(name), test, procedure=procedure, indices=range(0, 300, 10), seed=0)
    passes = run.to_frame()
    cost = passes["evaluations"].sum() / passes["samples"].sum()
    print(
        f"{name:20} average certified radius {run.average_radius():.3f}, {cost:.2f} forward passes per vote"
    )

# The same as commands:
#   smoothcert ensemble models/member-0 models/member-1 models/member-2 --consensus 2 --out models/consensus
#   smoothcert certify models/soft --with-members --n 1000 --out runs/soft
