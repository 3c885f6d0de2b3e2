"""Segments: text -> tokens -> what Encode makes of them. With a frozen encoder each text is read once and kept (fp16, least
recently used out first); with a training encoder every batch reads its own segments, gradients included."""

import re
from collections import OrderedDict

import torch
import torch.nn.functional as F
from tokenizers import Tokenizer

SPECIAL = {
    "cls": ("[CLS]", "<s>"),
    "sep": ("[SEP]", "</s>"),
    "mask": ("[MASK]", "<mask>"),
    "pad": ("[PAD]", "<pad>"),
}


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
    """Encoded segments by token ids. `depths`: how many of Encode's depths to keep (1 for heads and options, all for states)."""

    def __init__(self, encode, pad, device, depths, limit_mb, batch_tokens=6144, train=False):
        self.encode, self.pad, self.device, self.depths, self.batch_tokens, self.train = (
            encode,
            pad,
            device,
            depths,
            batch_tokens,
            train,
        )
        self.kept, self.bytes, self.limit = OrderedDict(), 0, limit_mb << 20

    def read(self, rows):
        """Token id tuples -> [(hidden [c,s,d], pooled [d])], length-sorted batches."""
        out = {}
        todo = sorted(set(rows), key=len)
        at = 0
        while at < len(todo):
            n = max(
                1,
                min(
                    len(todo) - at,
                    self.batch_tokens
                    // len(todo[min(len(todo) - 1, at + self.batch_tokens // max(1, len(todo[at])))]),
                ),
            )
            part = todo[at : at + n]
            at += n
            width = len(part[-1])
            ids = torch.tensor([list(r) + [self.pad] * (width - len(r)) for r in part], device=self.device)
            mask = torch.tensor([[1] * len(r) + [0] * (width - len(r)) for r in part], device=self.device)
            with torch.autocast(self.device, dtype=torch.bfloat16), torch.set_grad_enabled(self.train):
                hidden, pooled = self.encode(ids, mask)
            hidden = hidden[:, : self.depths]
            for r, h, p in zip(part, hidden, pooled):
                out[r] = (
                    (h[:, : len(r)], p) if self.train else (h[:, : len(r)].half().clone(), p.float().clone())
                )
        return out

    def get(self, rows):
        """Token id tuples -> what `read` gives, in order; kept ones are not read again."""
        if self.train:
            fresh = self.read(rows)
            return [fresh[r] for r in rows]
        missing = [r for r in rows if r not in self.kept]
        for r, v in self.read(missing).items() if missing else ():
            self.kept[r] = v
            self.bytes += v[0].numel() * 2
        out = []
        for r in rows:
            self.kept.move_to_end(r)
            out.append(self.kept[r])
        while self.bytes > self.limit:
            _, (h, _) = self.kept.popitem(last=False)
            self.bytes -= h.numel() * 2
        return out


def collate(batch, prefixes, states, device):
    """batch: [(qtype, head ids, [option ids], target, state ids)] -> Decide's inputs with one question a state, and targets [n,m]."""
    n = len(batch)
    cuts = [[len(h)] + [len(o) for o in os_] for _, h, os_, *_ in batch]
    segs = prefixes.get([s for _, h, os_, *_ in batch for s in (h, *os_)])
    state = states.get([b[4] for b in batch])

    def up(n, k):
        return -(-n // k) * k  # few distinct shapes: kernels are made once for each

    P, M, S = up(max(map(sum, cuts)), 8), max(len(c) - 1 for c in cuts), up(max(len(b[4]) for b in batch), 16)

    def zeros(*s):
        return torch.zeros(*s, dtype=torch.long)

    hidden, at = [], 0
    mask, part, marker, marker_mask, target = (
        zeros(n, P),
        zeros(n, P),
        zeros(n, M),
        zeros(n, M),
        torch.zeros(n, M),
    )
    head, options = [], []
    for i, cut in enumerate(cuts):
        own = segs[at : at + len(cut)]
        at += len(cut)
        size = sum(cut)
        hidden.append(torch.cat([h[0] for h, _ in own]).to(device))
        head.append(own[0][1])
        options.append(torch.stack([p for _, p in own[1:]]))
        mask[i, :size] = 1
        part[i, cut[0] : size] = 1
        k = len(cut) - 1
        marker_mask[i, :k] = 1
        marker[i, :k] = torch.tensor(cut[:-1]).cumsum(0)
        target[i, :k] = torch.tensor(batch[i][3])

    def pad(xs, size=0):
        return torch.stack([F.pad(x, (0, 0, 0, max(size, max(map(len, xs))) - len(x))) for x in xs])

    smask = zeros(n, S)
    for i, b in enumerate(batch):
        smask[i, : len(b[4])] = 1
    sh = torch.stack([F.pad(h, (0, 0, 0, S - h.size(1))) for h, _ in state]).float()  # [n,c,S,d]

    def move(t):
        return t.to(device)

    def q(t):
        return t.unsqueeze(1)

    inputs = [
        q(pad(hidden, P).float()),
        q(move(mask)),
        q(move(part)),
        q(move(marker)),
        q(move(marker_mask)),
        q(torch.stack(head)),
        q(pad(options)),
        move(torch.tensor([[b[0]] for b in batch])),
        sh,
        move(smask),
        torch.stack([p for _, p in state]),
    ]
    return inputs, move(target), move(marker_mask)
