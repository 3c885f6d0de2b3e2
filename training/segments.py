"""Segments: text -> tokens -> what Encode makes of them. What frozen layers make of a text is kept; layers that train
read each batch anew."""

import re
from collections import OrderedDict
from itertools import groupby
from typing import NamedTuple

import torch
from tokenizers import Tokenizer
from torch.nn.utils.rnn import pad_sequence

SPECIAL = {
    "cls": ("[CLS]", "<s>"),
    "sep": ("[SEP]", "</s>"),
    "mask": ("[MASK]", "<mask>"),
    "pad": ("[PAD]", "<pad>"),
}


class Row(NamedTuple):
    """A question about a state as token ids: what a batch is made of. `tie`, `turned`: see sources.Question; rows of one `group`
    were drawn together."""

    qtype: int
    head: tuple
    options: list
    target: list
    state: tuple
    task: str = ""
    tie: int | None = None
    turned: bool = False
    group: int | None = None


class Tokens:
    """Head, option and state segments as token ids (contract, sections 5 and 6)."""

    def __init__(self, path):
        self.tok = Tokenizer.from_file(path)
        self.tok.no_truncation()
        self.tok.no_padding()
        self.special = {
            k: next(n for n in names if self.tok.token_to_id(n) is not None) for k, names in SPECIAL.items()
        }
        self.cls, self.sep, self.mask, self.pad = (
            self.tok.token_to_id(self.special[k]) for k in ("cls", "sep", "mask", "pad")
        )
        self.forged = re.compile(
            "|".join(re.escape(t) for t in sorted(self.special.values(), key=len, reverse=True))
        )

    def ids(self, s):
        return self.tok.encode(self.forged.sub(" ", s), add_special_tokens=False).ids

    def head(self, s):
        return [self.cls] + self.ids(s) + [self.sep]

    def option(self, s):
        return [self.mask] + self.ids(" " + s)

    def state(self, s):
        return self.ids(s) + [self.sep]


class Segments:
    """What Encode's frozen layers make of segments, by token ids (fp16, least recently used out first); `trained`: how many layers
    at the top are not frozen; `half`: products in bf16."""

    def __init__(self, encode, pad, device, trained=0, limit_mb=3000, batch_tokens=6144, half=False):
        if half and device == "cpu" and not torch.ops.mkldnn._is_mkldnn_bf16_supported():
            raise ValueError(
                "--half: this processor has no bf16 products, and takes five times as long; leave it out"
            )
        self.trained, self.half = trained, half
        self.encode, self.pad, self.device, self.batch_tokens = encode, pad, device, batch_tokens
        self.kept, self.bytes, self.limit = OrderedDict(), 0, limit_mb << 20

    @torch.no_grad()
    def read(self, rows):
        """Token id tuples into the cache, those of like length together."""
        todo = sorted(set(rows), key=len)
        while todo:
            n = next((k for k in range(len(todo), 1, -1) if k * len(todo[k - 1]) <= self.batch_tokens), 1)
            part, todo = todo[:n], todo[n:]
            width = len(part[-1])
            ids = torch.tensor([list(r) + [self.pad] * (width - len(r)) for r in part], device=self.device)
            with torch.autocast(self.device, dtype=torch.bfloat16, enabled=self.half):
                read = self.encode.read(ids, masks([len(r) for r in part], width, self.device), self.trained)
            for i, r in enumerate(part):
                self.kept[r] = read[i, :, : self.encode.kept(len(r))].half()
                self.bytes += self.kept[r].nbytes

    def get(self, rows):
        """Token id tuples -> [k,t,d] each ([k,1+t,d] where a token leads), in order; kept ones are not read again."""
        self.read([r for r in rows if r not in self.kept])
        out = []
        for r in rows:
            self.kept.move_to_end(r)
            out.append(self.kept[r])
        while self.bytes > self.limit:
            _, read = self.kept.popitem(last=False)
            self.bytes -= read.nbytes
        return out

    def finished(self, rows, size):
        """Segments padded to `size` -> hidden [n,c,size,d], mask [n,size], pooled [n,d]."""
        mask = masks([len(r) for r in rows], size, self.device)
        known = self.get(rows)
        k, _, d = known[0].shape
        xs = torch.zeros(len(rows), k, self.encode.kept(size), d, device=self.device)
        for i, x in enumerate(known):
            xs[i, :, : x.size(1)] = x
        hidden, pooled = self.encode.finish(xs, mask, self.trained)
        return hidden, mask, pooled

    def whole(self, rows):
        """Unique segments, read in groups of like length -> depth 0 of each [t,d], in order, and their unit vectors [n,d]."""
        tokens, vectors, order = [None] * len(rows), [], []
        for group in of_like_length(rows):
            order += group
            hidden, _, pooled = self.finished([rows[i] for i in group], len(rows[group[-1]]))
            vectors.append(pooled)
            for i, h in zip(group, hidden[:, 0].float().unbind(0)):
                tokens[i] = h[: len(rows[i])]
        return tokens, in_order(torch.cat(vectors), order)

    def anew(self, rows):
        """The unit vectors [n,d] of segments, read from the words on: nothing is kept, so words may train."""
        vectors, order = [], []
        for group in of_like_length(rows):
            order += group
            part = [torch.tensor(rows[i]) for i in group]
            ids = pad_sequence(part, batch_first=True, padding_value=self.pad)
            mask = masks([len(r) for r in part], ids.size(1), self.device)
            vectors.append(self.encode(ids.to(self.device), mask)[1].float())
        return in_order(torch.cat(vectors), order)


def of_like_length(rows):
    """Places of rows, in groups of like length, short ones first."""
    order = sorted(range(len(rows)), key=lambda i: len(rows[i]))
    for _, group in groupby(order, lambda i: (len(rows[i]) - 1).bit_length()):
        yield list(group)


def in_order(x, order):
    """x [n,d], whose i-th row belongs at order[i], in order."""
    return x[torch.tensor(order).argsort().to(x.device)]


def masks(lengths, size, device):
    return (torch.arange(size)[None] < torch.tensor(lengths)[:, None]).float().to(device)


def indexed(rows):
    """-> unique rows, the place of each row among them."""
    at = {}
    return at, [at.setdefault(r, len(at)) for r in rows]


def collate(batch, segments, device):
    """[Row] -> Decide's inputs with one question a state, targets [n,m]
    and their mask. A segment that occurs twice is read once."""
    n = len(batch)
    cuts = [[len(b.head)] + [len(o) for o in b.options] for b in batch]
    P, M, S = max(map(sum, cuts)), max(len(c) - 1 for c in cuts), max(len(b.state) for b in batch)

    def zeros(*s):
        return torch.zeros(*s, dtype=torch.long)

    mask, part, marker, marker_mask = zeros(n, P), zeros(n, P), zeros(n, M), zeros(n, M)
    target, option = torch.zeros(n, M), zeros(n, M)
    own, at_segment = indexed([s for b in batch for s in (b.head, *b.options)])
    tokens, pooled = segments.whole(list(own))
    prefix, head, at = [], zeros(n), 0
    for i, cut in enumerate(cuts):
        k, size = len(cut) - 1, sum(cut)
        prefix.append(torch.cat([tokens[j] for j in at_segment[at : at + k + 1]]))
        head[i] = at_segment[at]
        option[i, :k] = torch.tensor(at_segment[at + 1 : at + k + 1])
        at += k + 1
        mask[i, :size] = 1
        part[i, cut[0] : size] = 1
        marker_mask[i, :k] = 1
        marker[i, :k] = torch.tensor(cut[:-1]).cumsum(0)
        target[i, :k] = torch.tensor(batch[i].target)
    states, at_state = indexed([b.state for b in batch])
    state_hidden, state_mask, state_pooled = segments.finished(list(states), S)

    def q(t):
        return t.to(device).unsqueeze(1)

    marker_mask = marker_mask.to(device)
    inputs = [
        pad_sequence(prefix, batch_first=True).unsqueeze(1),
        q(mask),
        q(part),
        q(marker),
        q(marker_mask),
        q(pooled[head.to(device)]),
        q(pooled[option.to(device)] * marker_mask.unsqueeze(-1)),
        q(torch.tensor([b.qtype for b in batch])),
        state_hidden,
        state_mask.long(),
        state_pooled,
        torch.tensor(at_state, device=device),
    ]
    return inputs, target.to(device), marker_mask
