"""An exported checkpoint (family `core`) run with numpy and onnxruntime alone: requests -> logits and answers' probabilities."""

import json

import numpy as np

from segments import Tokens
from sources import QTYPE, of_record, text

BUCKETS = ((2, "2"), (5, "3-5"), (10, "6-10"), (10**9, "11+"))


def bucket(n):
    return next(name for top, name in BUCKETS if n <= top)


def softmax(z, t=1.0):
    p = np.exp((z - z.max()) / t)
    return p / p.sum()


def opened(graph, threads=0):
    """A session of a graph (its path, or its bytes) whose weights are unpacked once; 0 threads: one a core."""
    import onnxruntime as ort

    o = ort.SessionOptions()
    o.intra_op_num_threads = threads
    o.add_session_config_entry("session.disable_quant_qdq", "1")  # float_matmul.py says why
    return ort.InferenceSession(graph, o, providers=["CPUExecutionProvider"])


class Checkpoint:
    def __init__(self, path, threads=1, suffix=""):
        self.manifest = json.load(open(f"{path}/checkpoint.json", encoding="utf8"))
        self.tokens = Tokens(f"{path}/tokenizer.json")
        self.kept = {}  # segments read so far: cleared by whoever has done with them
        self.encode, self.decide = (
            opened(f"{path}/{self.manifest['graphs'][g].replace('.onnx', suffix + '.onnx')}", threads)
            for g in ("encode", "decide")
        )

    def temperature(self, kind, n):
        c = self.manifest.get("calibration") or {}
        t = (
            (c.get("temperature_by_options") or {}).get(f"{kind}:{bucket(n)}")
            or (c.get("temperature") or {}).get(kind)
            or 1.0
        )
        return min(5.0, max(0.5, t))

    def read(self, segments, budget=4096):
        """Token id lists -> [(hidden [c,s,d], pooled [d])] in order; equal ones are read once, those of like length together."""
        todo = sorted({tuple(s) for s in segments} - self.kept.keys(), key=len)
        while todo:
            n = next((k for k in range(len(todo), 1, -1) if k * len(todo[k - 1]) <= budget), 1)
            part, todo = todo[:n], todo[n:]
            width = len(part[-1])
            ids = np.array([s + (self.tokens.pad,) * (width - len(s)) for s in part], np.int64)
            mask = np.array([[1] * len(s) + [0] * (width - len(s)) for s in part], np.int64)
            hidden, pooled = self.encode.run(["hidden", "pooled"], {"input_ids": ids, "attention_mask": mask})
            for s, h, p in zip(part, hidden, pooled):
                self.kept[s] = (h[:, : len(s)].copy(), p)
        return [self.kept[tuple(s)] for s in segments]

    def prefix(self, questions):
        """What Decide takes of a question set."""
        cuts = [
            [self.tokens.head(q.head())] + [self.tokens.option(o) for o in q.option_texts()]
            for q in questions
        ]
        segments = self.read([s for c in cuts for s in c])
        Q = len(cuts)
        P = max(sum(map(len, c)) for c in cuts)
        M = max(len(c) - 1 for c in cuts)
        D = segments[0][1].shape[0]

        def zeros(*s):
            return np.zeros(s, np.int64)

        x = dict(
            prefix_hidden=np.zeros((Q, P, D), np.float32),
            prefix_mask=zeros(Q, P),
            prefix_part=zeros(Q, P),
            marker=zeros(Q, M),
            marker_mask=zeros(Q, M),
            head_pooled=np.zeros((Q, D), np.float32),
            option_pooled=np.zeros((Q, M, D), np.float32),
            qtype=np.array([QTYPE[q.type] for q in questions], np.int64),
        )
        at = 0
        for i, cut in enumerate(cuts):
            k = len(cut) - 1
            start = 0
            own = segments[at : at + len(cut)]
            x["head_pooled"][i] = own[0][1]
            x["option_pooled"][i, :k] = [p for _, p in own[1:]]
            x["marker_mask"][i, :k] = 1
            for j, s in enumerate(cut):
                x["prefix_hidden"][i, start : start + len(s)] = own[j][0][0]
                x["prefix_part"][i, start : start + len(s)] = int(j > 0)
                if j:
                    x["marker"][i, j - 1] = start
                start += len(s)
            x["prefix_mask"][i, :start] = 1
            at += len(cut)
        return x

    def logits(self, state, questions):
        """One state, its questions -> [logits of each question's options]."""
        ((hidden, pooled),) = self.read([self.tokens.state(text(state))])
        mask = np.ones((1, hidden.shape[1]), np.int64)
        z = self.decide.run(
            ["logits"],
            dict(
                self.prefix(questions), state_hidden=hidden[None], state_mask=mask, state_pooled=pooled[None]
            ),
        )[0][0]
        return [z[i, : len(q.options)].astype(np.float64) for i, q in enumerate(questions)]

    def similarity(self, state, questions, scale=15.0):
        """What the encoder alone says: scaled cosine of option and state."""
        x = self.prefix(questions)
        ((_, pooled),) = self.read([self.tokens.state(text(state))])
        return [
            scale * x["option_pooled"][i, : len(q.options)].astype(np.float64) @ pooled
            for i, q in enumerate(questions)
        ]


def requests(path, limit=0, seed=5):
    """dev.jsonl -> [(request, [Question])], a seeded sample of requests where limit is set."""
    import random

    rows = [json.loads(l) for l in open(path, encoding="utf8")]
    if limit and limit < len(rows):
        rows = random.Random(seed).sample(rows, limit)
    return [
        (r, [of_record(q, r["gold"][k], r["family"]) for k, q in r["questions"].items() if k in r["gold"]])
        for r in rows
    ]


def measured(model, asked, how="logits", together=48):
    """-> rows for metrics.py, with the raw logits beside p at temperature 1; requests over the window are left out."""
    out = []
    for at in range(0, len(asked), together):
        part = []
        model.kept.clear()
        for r, qs in asked[at : at + together]:
            state = model.tokens.state(text(r["state"]))
            prefixes = [
                [model.tokens.head(q.head())] + [model.tokens.option(o) for o in q.option_texts()] for q in qs
            ]
            if max(sum(map(len, p)) for p in prefixes) + 1 + len(state) <= model.manifest["window"]:
                part.append((r, qs, [state] + [s for p in prefixes for s in p]))
        model.read([s for _, _, segments in part for s in segments])
        for r, qs, _ in part:
            for q, z in zip(qs, getattr(model, how)(r["state"], qs)):
                out.append(
                    dict(
                        id=r["id"],
                        type=q.type,
                        source=r["source"],
                        family=r["family"],
                        lang=r["lang"],
                        gold=q.target,
                        z=z.tolist(),
                        p=softmax(z).tolist(),
                    )
                )
    return out
