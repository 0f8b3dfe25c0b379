"""Circular teaching written a second time: NumPy, one head, one image and one copy at a time, from the formulas.

Weights of images and adversarial images are constants of the loss: they are found once, at the weights as they are.
"""

import math

import numpy as np

from training.objective_reference import differences, kl, softmax

D, HIDDEN, CLASSES, HEADS = 5, 4, 3, 3
TRUNK = [(HIDDEN, D), (HIDDEN,)]
HEAD = [(CLASSES, HIDDEN), (CLASSES,)]
TRUNK_SIZE, HEAD_SIZE = HIDDEN * D + HIDDEN, CLASSES * HIDDEN + CLASSES


def head_theta(theta, k):
    start = TRUNK_SIZE + k * HEAD_SIZE
    return theta[start : start + HEAD_SIZE]


def head_logits(theta, x, k):
    """A shared layer with tanh, then head k; x is one image."""
    a, b = theta[: HIDDEN * D].reshape(HIDDEN, D), theta[HIDDEN * D : TRUNK_SIZE]
    own = head_theta(theta, k)
    return own[: CLASSES * HIDDEN].reshape(CLASSES, HIDDEN) @ np.tanh(a @ x + b) + own[CLASSES * HIDDEN :]


def mean_logits(theta, x):
    return np.mean([head_logits(theta, x, k) for k in range(HEADS)], axis=0)


def smoothed_loss(theta, x, label, noise, k):
    return np.mean([-np.log(softmax(head_logits(theta, x + e, k))[label]) for e in noise])


def threshold(epoch, epochs, first, last):
    """Solve a t + b = 10^-lambda at both ends, as two equations."""
    a, b = np.linalg.solve([[1, 1], [epochs, 1]], [10**-first, 10**-last])
    return -math.log10(a * epoch + b)


def weight(judged, graded, lbd, scheme):
    easy = judged <= lbd
    if scheme == "hard":
        return 1.0 if easy else 0.0
    if scheme == "high-loss":
        return (1 + math.exp(-lbd)) / (1 + math.exp(lbd - graded)) if easy else 1.0
    return 1.0 if easy else (1 + math.exp(-lbd)) / (1 + math.exp(graded - lbd))


def weights(losses, lbd, scheme, teacher, teacher_weight):
    """Weight of head k on image n; losses[k][n] are the smoothed losses."""
    found = np.ones((HEADS, len(losses[0])))
    for k in range(HEADS):
        teaching = {"previous": losses[(k - 1) % HEADS], "self": losses[k], "none": None}[teacher]
        for n in range(len(losses[0])):
            if teaching is not None:
                graded = teaching[n] if teacher_weight else losses[k][n]
                found[k, n] = weight(teaching[n], graded, lbd, scheme)
    return found


def cosine(theta):
    total = 0.0
    for i in range(HEADS):
        for j in range(i + 1, HEADS):
            a, b = head_theta(theta, i), head_theta(theta, j)
            total += (a @ b) ** 2 / ((a @ a) * (b @ b))
    return total


def attacked_loss(theta, x, label, noise, average):
    """-log z_y of the heads' mean logits; or the mean over the heads of each one's own -log z_y."""
    if average == "logits":
        return -np.log(np.mean([softmax(mean_logits(theta, x + e))[label] for e in noise]))
    own = [np.mean([softmax(head_logits(theta, x + e, k))[label] for e in noise]) for k in range(HEADS)]
    return np.mean([-np.log(z) for z in own])


def uphill(theta, x, label, noise, average):
    """Unit gradient of the attacked loss, with respect to the image."""
    slopes = differences(lambda at: attacked_loss(theta, at, label, noise, average), x)
    return slopes / np.linalg.norm(slopes)


def far_away(theta, x, label, noise, alpha, steps, average="logits"):
    for _ in range(steps):
        x = np.clip(x + alpha * uphill(theta, x, label, noise, average), 0, 1)
    return x


# --- losses of one head on one image: theta, image, label, noise (m, D), head -> number ---


def consistency(theta, x, noise, k, lbd, eta):
    answers = [softmax(head_logits(theta, x + e, k)) for e in noise]
    z = np.mean(answers, axis=0)
    return lbd * np.mean([kl(z, answer) for answer in answers]) - eta * sum(z * np.log(z))


def squared(theta, x, noise, k):
    answers = [softmax(head_logits(theta, x + e, k)) for e in noise]
    return np.mean([np.sum((a - b) ** 2) for i, a in enumerate(answers) for b in answers[:i]])


def mean_z(theta, x, noise, average="logits"):
    """Mean over the copies: of the softmax of the heads' mean logits, or of the heads' mean softmax."""
    if average == "logits":
        return np.mean([softmax(mean_logits(theta, x + e)) for e in noise], axis=0)
    return np.mean([softmax(head_logits(theta, x + e, k)) for e in noise for k in range(HEADS)], axis=0)


def mixed(theta, centre, far, noise, share, k, average="logits"):
    target = (1 - share) * mean_z(theta, centre, noise, average) + share / CLASSES
    at = (1 - share) * centre + share * far
    return np.mean([kl(target, softmax(head_logits(theta, at + e, k))) for e in noise])
