"""The training losses written a second time: NumPy, one image and one copy at a time, straight from the formulas.

Gradients come from central differences in float64, so nothing here shares a line or a library with the code under
test. An adversarial image is a constant of the loss: it is found once, at the weights as they are.
"""

import numpy as np
from scipy.special import ndtri

D, HIDDEN, CLASSES = 6, 5, 3
SIZES = [(HIDDEN, D), (HIDDEN,), (CLASSES, HIDDEN), (CLASSES,)]


def logits(theta, x):
    """Two layers with tanh between them; x is one image."""
    parts = np.split(theta, np.cumsum([np.prod(size) for size in SIZES])[:-1])
    a, b, c, d = (part.reshape(size) for part, size in zip(parts, SIZES, strict=True))
    return c @ np.tanh(a @ x + b) + d


def softmax(values):
    powers = np.exp(values - values.max())
    return powers / powers.sum()


def prob(theta, x, beta=1.0):
    return softmax(beta * logits(theta, x))


def z(theta, x, noise, beta=1.0):
    """Mean probability over the copies; noise (m, D)."""
    return np.mean([prob(theta, x + e, beta) for e in noise], axis=0)


def differences(function, at, step=1e-5):
    """Gradient by central differences."""
    slopes = np.empty(at.size)
    for k in range(at.size):
        shift = np.zeros(at.size)
        shift[k] = step
        slopes[k] = (function(at + shift) - function(at - shift)) / (2 * step)
    return slopes


def uphill(theta, x, label, noise):
    """Unit gradient of -log z_y with respect to the image."""
    slopes = differences(lambda at: -np.log(z(theta, at, noise)[label]), x)
    return slopes / np.linalg.norm(slopes)


def pgd(theta, x, label, noise, eps, steps):
    at = x
    for _ in range(steps):
        change = at + 2 * eps / steps * uphill(theta, at, label, noise) - x
        length = np.linalg.norm(change)
        at = np.clip(x + (change if length <= eps else change * eps / length), 0, 1)
    return at


def far_away(theta, x, label, noise, alpha, steps):
    at = x
    for _ in range(steps):
        at = np.clip(at + alpha * uphill(theta, at, label, noise), 0, 1)
    return at


# --- losses of one image: theta, image, label, noise (m, D) -> number ---


def cross_entropy(theta, x, label, noise):
    return np.mean([-np.log(prob(theta, x + e)[label]) for e in noise])


def stability(theta, x, label, noise, lbd):
    clean, noisy = prob(theta, x), prob(theta, x + noise[0])
    return -np.log(clean[label]) - lbd * sum(p * np.log(q) for p, q in zip(clean, noisy, strict=True))


def kl(p, q):
    return sum(a * (np.log(max(a, 1e-20)) - np.log(max(b, 1e-20))) for a, b in zip(p, q, strict=True))


def consistency(theta, x, label, noise, lbd, eta):
    mean = z(theta, x, noise)
    apart = np.mean([kl(mean, prob(theta, x + e)) for e in noise])
    entropy = -sum(p * np.log(max(p, 1e-20)) for p in mean)
    return cross_entropy(theta, x, label, noise) + lbd * apart + eta * entropy


def consistency_mse(theta, x, label, noise, lbd):
    answers = [prob(theta, x + e) for e in noise]
    pairs = [np.sum((a - b) ** 2) for i, a in enumerate(answers) for b in answers[:i]]
    return cross_entropy(theta, x, label, noise) + lbd * np.mean(pairs)


def margin(theta, x, label, noise, beta):
    votes = z(theta, x, noise, beta)
    with np.errstate(invalid="ignore"):
        return ndtri(votes[label]) - ndtri(max(np.delete(votes, label)))


def macer(theta, x, label, noise, lbd, gamma, beta, sigma):
    loss = -np.log(z(theta, x, noise)[label] + 1e-10)
    xi = margin(theta, x, label, noise, beta)
    if z(theta, x, noise, beta).argmax() == label and np.isfinite(xi) and xi <= gamma:
        loss += lbd * sigma / 2 * (gamma - xi)
    return loss


def smoothmix(theta, x, far, label, noise, share, weight):
    mean = z(theta, x, noise)
    loss = cross_entropy(theta, x, label, noise)
    if mean.argmax() == label:
        target = (1 - share) * mean + share / CLASSES
        mixed = (1 - share) * x + share * far
        loss += weight * np.mean([kl(target, prob(theta, mixed + e)) for e in noise])
    return loss
