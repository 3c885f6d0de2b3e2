"""Trained checkpoints of one tokenizer as one: each reads and answers by itself, and the logarithms of their probabilities are averaged (a
logarithmic opinion pool; Genest and Zidek, "Combining probability distributions", 1986). What Encode gives of them stands side by side in
the last dimension, so Encode and Decide look to the engine as those of one checkpoint of that width do."""

import torch
from torch import nn


class EnsembleEncode(nn.Module):
    """input_ids, attention_mask [n,s] -> hidden [n,c,s,d], pooled [n,d]; d: the sum of the members' widths."""

    def __init__(self, members):
        super().__init__()
        self.members = nn.ModuleList(members)
        self.width = sum(m.width for m in members)
        self.depths = members[0].depths

    def forward(self, input_ids, attention_mask):
        return tuple(torch.cat(x, -1) for x in zip(*(m(input_ids, attention_mask) for m in self.members)))


class EnsembleDecide(nn.Module):
    """Decide's inputs, the members' side by side -> logits [r,Q,m], the mean of the members' by `weights`, which add up to one."""

    def __init__(self, members, widths, weights):
        super().__init__()
        self.members, self.widths, self.weights = nn.ModuleList(members), list(widths), list(weights)

    def parts(self, x):
        return x.split(self.widths, -1)

    def state(self, hidden):
        """What any question reads of states (`Decide.state`) of all members [r,3+2c,s,d]."""
        return torch.cat([m.state(h) for m, h in zip(self.members, self.parts(hidden))], -1)

    def decide(self, hidden, mask, part, marker, marker_mask, head, option, qtype, state, state_mask, pooled):
        apart = zip(*map(self.parts, (hidden, head, option, state, pooled)))
        z = [
            w * m.decide(h, mask, part, marker, marker_mask, hp, op, qtype, s, state_mask, sp)
            for w, m, (h, hp, op, s, sp) in zip(self.weights, self.members, apart)
        ]
        return sum(z[1:], z[0])


def ensemble(encodes, decides, share):
    """-> Encode, Decide of two members, of which the second's answer counts for `share`; of one member that member."""
    if len(encodes) == 1:
        return encodes[0], decides[0]
    return EnsembleEncode(encodes), EnsembleDecide(decides, [m.width for m in encodes], [1 - share, share])
