"""The decision encoder, in the two parts that ship: Encode reads segments apart, Decide lets questions read states.

Encode is a pretrained sentence encoder (BERT or MPNet weights). Head, every option and the state are segments of their own,
positions restart in each, so a state is read once whatever is asked of it, and the order of options cannot matter.
Decide holds `joint` layers that start as copies of Encode's last ones, or of those of a narrower encoder (`models`). In them only
the head's tokens and the options' markers are rewritten. First every token of head and options is compared with what of the state is most like it; then, layer by layer, they read each other, the options' tokens as Encode left them (a marker those of its own option only: two
markers must not start alike) and the state's tokens at the same depth. A further question costs its few live tokens.
"""

import copy
import json
import math

import torch
import torch.nn.functional as F
from safetensors.torch import load_file
from torch import nn

LOW = -1e4
TINY = 1e-30  # is added to what a logarithm is taken of
FEW = 64  # tokens from which a block counts as a whole one
ABOVE = 5  # layers between the two that a narrow hidden state is made of
CHOICE, SCORE, NOUL = 0, 1, 2


def whole_in(mask, block, window):
    """Whether rows are read without cutting blocks of so many tokens: those at hand, or in an export any of the window."""
    return window <= block + 1 if torch.onnx.is_in_onnx_export() else mask.size(1) <= block


def unit(v):
    return v / v.norm(dim=-1, keepdim=True).clamp(min=1e-6)


class Layer(nn.Module):
    """One post-norm BERT layer; x [..,t,d] reads keys that the caller attends over."""

    def __init__(self, d, heads, ff, eps):
        super().__init__()
        self.heads = heads
        self.q, self.k, self.v, self.o = (nn.Linear(d, d) for _ in range(4))
        self.ln1 = nn.LayerNorm(d, eps=eps)
        self.up, self.down = nn.Linear(d, ff), nn.Linear(ff, d)
        self.ln2 = nn.LayerNorm(d, eps=eps)

    def split(self, x):
        """[.., t, d] -> [.., h, t, e]"""
        return x.unflatten(-1, (self.heads, x.size(-1) // self.heads)).transpose(-2, -3)

    def rest(self, x, read):
        """read [.., t, d]: what attention brought; the residuals and the feed-forward half."""
        x = self.ln1(x + self.o(read))
        return self.ln2(x + self.down(F.gelu(self.up(x))))

    def forward(self, x, bias):
        q, k, v = (self.split(p(x)) for p in (self.q, self.k, self.v))
        read = (q @ k.transpose(-1, -2) * q.size(-1) ** -0.5 + bias).softmax(-1) @ v
        return self.rest(x, read.transpose(-2, -3).flatten(-2))


class Blocks:
    """Rows of a mask [n,s] in b blocks each, `mask` [n*b,t]: of `longest` tokens, or of `long` where a row has more than that. What a row
    is cut into depends on its own tokens alone. `whole`: no row is longer than a block."""

    def __init__(self, mask, longest, long, whole):
        self.rows, self.mask, self.whole = mask, mask, whole
        if not whole:
            n, s = torch._shape_as_tensor(mask)
            length = mask.sum(1, keepdim=True).long()
            own = torch.where(length > longest, long, s.clamp(max=longest))  # [n,1]
            self.size, self.count = own.max(), ((length + own - 1) // own).max().clamp(min=1)
            row = torch.arange(n, device=mask.device)[:, None]
            at = torch.arange(self.size, device=mask.device)
            block = torch.arange(self.count, device=mask.device)[:, None] * own[:, :, None]  # [n,b,1]
            taken = block + at
            inside = (at < own[:, :, None]) & (taken < s)
            self.taken = (row * s + taken.clamp(max=s - 1).flatten(1)).flatten()
            self.mask = (mask.flatten()[self.taken] * inside.flatten()).reshape(-1, self.size)
            token = torch.arange(s, device=mask.device)
            self.of = (row * self.count + (token // own).clamp(max=self.count - 1)).flatten()
            self.back = self.of * self.size + (token % own).flatten()
            self.own = own

    def cut(self, x):
        """[n,s] -> [n*b,t]; [n,k,s,d] -> [n*b,k,t,d]"""
        if self.whole:
            return x
        if x.dim() == 2:
            return x.flatten()[self.taken].reshape(-1, self.size)
        _, k, _, d = x.shape
        return x.transpose(1, 2).reshape(-1, k, d)[self.taken].reshape(-1, self.size, k, d).transpose(1, 2)

    def joined(self, x):
        """[n*b,t,d] -> [n,s,d]"""
        if self.whole:
            return x
        return x.flatten(0, 1)[self.back].reshape(self.rows.size(0), -1, x.size(-1))

    def spread(self, x):
        """[n*b,d] -> [n,s,d], the same at every token of a block."""
        return x[self.of].reshape(self.rows.size(0), -1, x.size(-1))

    def packed(self, xs, kept, lead):
        """What stands at the tokens of blocks, `lead` (0 or 1) more before each, one block after the other without what they are padded
        with: [n*b,k,lead+t,d] -> [n,k,kept,d]"""
        if self.whole:
            return xs
        full = self.own + lead
        slot = torch.arange(kept, device=xs.device)
        block = (slot // full).clamp(max=self.count - 1)
        row = torch.arange(len(full), device=xs.device)[:, None] * self.count
        at = ((row + block) * (self.size + lead) + slot % full).flatten()
        _, k, _, d = xs.shape
        return xs.transpose(1, 2).reshape(-1, k, d)[at].reshape(len(full), -1, k, d).transpose(1, 2)

    def unpacked(self, xs, lead):
        """`packed` undone: [n,k,kept,d] -> [n*b,k,lead+t,d]"""
        if self.whole:
            return xs
        full = (self.own + lead)[:, :, None]
        block = torch.arange(self.count, device=xs.device)[:, None]
        slot = (block * full + torch.arange(self.size + lead, device=xs.device)).clamp(max=xs.size(2) - 1)
        row = torch.arange(len(full), device=xs.device)[:, None, None] * xs.size(2)
        _, k, _, d = xs.shape
        return (
            xs.transpose(1, 2)
            .reshape(-1, k, d)[(row + slot).flatten()]
            .reshape(-1, self.size + lead, k, d)
            .transpose(1, 2)
        )


BERT = dict(
    q="attention.self.query",
    k="attention.self.key",
    v="attention.self.value",
    o="attention.output.dense",
    ln1="attention.output.LayerNorm",
    up="intermediate.dense",
    down="output.dense",
    ln2="output.LayerNorm",
)
MPNET = BERT | dict(zip("qkvo", (f"attention.attn.{x}" for x in "qkvo")), ln1="attention.LayerNorm")


def by_distance(buckets, positions):
    """MPNet's bias by distance, [32, heads] buckets (16 a direction: 8 near ones, 8 of growing width up to 128 tokens) ->
    [2 * positions - 1, heads], from the farthest before a token to the farthest behind it."""
    far = torch.arange(1 - positions, positions)
    n = far.abs()
    wide = 8 + (n.clamp(min=1) / 8).log().div(math.log(128 / 8)).mul(8).long()
    return buckets[torch.where(n < 8, n, wide.clamp(max=15)) + 16 * (far > 0)]


class Encode(nn.Module):
    """input_ids, attention_mask [n,s] -> hidden [n,c,s,d] (inputs of the last c layers), pooled [n,d] (unit mean of the last
    output, less `centre`: where the base's means all point one way, as those of e5 do, what is left tells texts apart).
    A wide encoder with narrow questions (`width`) brings to their width what its last layers put out, each beside what the layer ABOVE
    it did as many below, and the mean of its last output: the middle of a sentence encoder knows more of words, its end more of what a text is about.

    A state longer than the base's positions, or than `block` in its config, is read in blocks of that many (or of `long_block`), apart from each other and each
    from position 0, so that a part of a long state is read as a short one is. hidden then has one row more a token, the unit mean of its
    block: Decide reads block by block too.

    A base whose config names a `lead_token_id` reads every segment, and every block, with that token before it, as it was trained:
    attention that has nothing to read rests there. It is part of the mean and of nothing else that is given out."""

    def __init__(self, base, depths, width=None):
        super().__init__()
        c = json.load(open(f"{base}/config.json"))
        w = {k.removeprefix("bert."): v.float() for k, v in load_file(f"{base}/model.safetensors").items()}
        d, eps, heads, ff = (
            c["hidden_size"],
            c["layer_norm_eps"],
            c["num_attention_heads"],
            c["intermediate_size"],
        )
        self.depths = depths
        self.lead = c.get("lead_token_id")
        # tokens of the longest state: an export of no more than a block cuts none
        self.window = math.inf
        mpnet = c["model_type"] == "mpnet"
        pos = w["embeddings.position_embeddings.weight"]
        pos = pos[2:] if mpnet else pos + w["embeddings.token_type_embeddings.weight"][0]
        self.cuts = "block" in c  # whether states longer than a block are to be expected
        own = self.lead is not None
        self.block = c.get("block", len(pos)) - own  # tokens of a block
        self.long_block = c.get("long_block", self.block + own) - own  # of a longer state
        self.word = nn.Embedding.from_pretrained(w["embeddings.word_embeddings.weight"], freeze=False)
        self.pos = nn.Embedding.from_pretrained(pos.clone(), freeze=False)
        self.ln = nn.LayerNorm(d, eps=eps)
        self.ln.load_state_dict({k: w[f"embeddings.LayerNorm.{k}"] for k in ("weight", "bias")})
        far = by_distance(w["encoder.relative_attention_bias.weight"], len(pos)) if mpnet else None
        self.register_buffer("distance", far)
        self.layers = nn.ModuleList(Layer(d, heads, ff, eps) for _ in range(c["num_hidden_layers"]))
        for i, layer in enumerate(self.layers):
            layer.load_state_dict(
                {
                    f"{a}.{k}": w[f"encoder.layer.{i}.{b}.{k}"]
                    for a, b in (MPNET if mpnet else BERT).items()
                    for k in ("weight", "bias")
                }
            )
        self.width = width or d  # d of what is given out
        self.register_buffer("centre", torch.zeros(self.width))
        self.narrow = self.about = None
        if width:
            self.narrow = nn.ModuleList(nn.Linear(2 * d, width) for _ in range(depths))
            self.about = nn.Linear(d, width, bias=False)

    def blocks(self, mask):
        return Blocks(mask, self.block, self.long_block, whole_in(mask, self.block, self.window))

    def led(self, mask):
        """A mask with the token that leads each block: [n*b,t] -> [n*b,1+t]."""
        return mask if self.lead is None else torch.cat([mask[:, :1], mask], 1)

    def bias(self, mask):
        """What attention adds for a mask [n,t], and for distance: [n,1 or heads,1 or t,t]."""
        bias = ((1 - mask) * LOW)[:, None, None, :]
        if self.distance is None:
            return bias
        longest = self.pos.num_embeddings
        at = torch.arange(mask.size(1), device=mask.device)
        return bias + self.distance.t()[:, at - at[:, None] + longest - 1]

    def first(self, trained):
        """The layer whose input is the first that `read` gives."""
        last = len(self.layers) - max(self.depths, trained)
        return min(last, len(self.layers) - ABOVE - self.depths + 1) if self.narrow else last

    def lower(self, ids, mask, trained=0):
        """Blocks [n,t] through all layers but the upper `trained`: the inputs of layer `first` and of those above it -> [n,k,t or 1+t,d]"""
        if self.lead is not None:
            ids = F.pad(ids, (1, 0), value=self.lead)
        x = self.ln(self.word(ids) + self.pos(torch.arange(ids.size(1), device=ids.device)))
        bias = self.bias(self.led(mask))
        xs = [x]
        for layer in self.layers[: len(self.layers) - trained]:
            xs.append(layer(xs[-1], bias))
        return torch.stack(xs[self.first(trained) :], 1)

    def upper(self, xs, blocks, trained=0):
        """What `lower` gave -> hidden [n,c,s,d], or [n,c+1,s,d] where blocks were cut, and the unit mean of the last output [n,d]."""
        mask = self.led(blocks.mask)
        bias = self.bias(mask)
        *hidden, x = xs.unbind(1)
        own = 0 if self.lead is None else 1
        for layer in self.layers[self.first(trained) + len(hidden) :]:
            hidden.append(x)
            x = layer(x, bias)
        hidden = [h[:, own:] for h in ([*hidden, x] if self.narrow else hidden)]
        if self.narrow:
            pairs = zip(hidden[-ABOVE - self.depths :], hidden[-self.depths :])
            hidden = [to(torch.cat(pair, -1)) for to, pair in zip(self.narrow, pairs)]
        hidden = [blocks.joined(h) for h in hidden[-self.depths :]]
        told = self.about(x) if self.narrow else x
        if not blocks.whole:
            hidden.append(blocks.spread(self.mean(told, mask)))
            n = blocks.rows.size(0)
            told, mask = told.reshape(n, -1, told.size(-1)), mask.reshape(n, -1)
        return torch.stack(hidden, 1), self.mean(told, mask)

    def mean(self, x, mask):
        """[n,t,d] -> unit means [n,d], less the centre."""
        # a product with a transposed mask, not a sum nor a vector times a matrix: onnxruntime then adds token by token, in any batch
        # and at any length (export.py checks it)
        p = (mask.unsqueeze(-1).transpose(1, 2) @ x).squeeze(1) / mask.sum(1, keepdim=True).clamp(min=1)
        return unit(unit(p) - self.centre)

    def forward(self, input_ids, attention_mask):
        blocks = self.blocks(attention_mask.to(self.word.weight.dtype))
        return self.upper(self.lower(blocks.cut(input_ids), blocks.mask), blocks)

    def kept(self, size):
        """Tokens that `read` gives of a row of so many: those that lead its blocks are among them."""
        if self.lead is None:
            return size
        return size + -(-size // (self.block if size <= self.block else self.long_block))

    def read(self, input_ids, mask, trained=0):
        """What frozen layers make of rows [n,s] -> [n,k,kept(s),d], for `finish`."""
        blocks = self.blocks(mask)
        xs = self.lower(blocks.cut(input_ids), blocks.mask, trained)
        return blocks.packed(xs, self.kept(mask.size(1)), int(self.lead is not None))

    def finish(self, xs, mask, trained=0):
        """What `read` gave -> what `forward` gives of the same rows."""
        blocks = self.blocks(mask)
        return self.upper(blocks.unpacked(xs, int(self.lead is not None)), blocks, trained)


class Decide(nn.Module):
    """Contract, section 6, with one more freedom: the prefix tensors may lead with [b] = [1] (shared by all states) or [r].

    prefix_hidden [b,Q,p,d], prefix_mask, prefix_part [b,Q,p], marker, marker_mask [b,Q,m], head_pooled [b,Q,d],
    option_pooled [b,Q,m,d], qtype [b,Q]; state_hidden [r,c,s,d], state_mask [r,s], state_pooled [r,d] -> logits [r,Q,m]
    """

    def __init__(self, encode, scale=15.0, dropout=0.1):
        super().__init__()
        d = encode.word.embedding_dim
        # tokens of a block, and of the longest state: those of the encoder that reads
        self.block, self.long_block, self.window = encode.block, encode.long_block, math.inf
        self.joint = copy.deepcopy(encode.layers[-encode.depths :])
        self.part = nn.Embedding(2, d)
        nn.init.zeros_(self.part.weight)  # head, marker
        self.kind = nn.Embedding(3, d)
        nn.init.normal_(self.kind.weight, std=0.02)
        self.name = nn.Linear(d, d)
        nn.init.zeros_(self.name.weight)
        nn.init.zeros_(self.name.bias)  # what an option says, into its marker
        self.static = nn.ModuleList(
            copy.deepcopy(l.ln2) for l in encode.layers[-encode.depths - 1 : -1]
        ).requires_grad_(False)  # option tokens, at each layer's scale
        self.match = nn.Linear(d, d, bias=False)
        nn.init.eye_(self.match.weight)
        self.sharp = nn.Parameter(torch.tensor(12.0))
        # of a token, of what is most like it, of their product
        self.compare, self.compare_near, self.compare_product = (
            nn.Linear(d, d, bias=i == 0) for i in range(3)
        )
        self.told = nn.Linear(d, d)
        nn.init.normal_(self.told.weight, std=0.02)
        self.scale = nn.Parameter(torch.tensor([scale, scale / 3, scale / 3]))
        self.trust = nn.Parameter(
            torch.ones(3)
        )  # what reading adds, by type: below 1, similarity counts for more
        self.norm, self.norm_head = nn.LayerNorm(d), nn.LayerNorm(d)
        self.drop = nn.Dropout(dropout)
        self.fc, self.fc_like = nn.Linear(5 * d, d), nn.Linear(3, d, bias=False)
        self.out = nn.Linear(d, 1)
        self.whole, self.whole_like = nn.Linear(3 * d, d), nn.Linear(2, d, bias=False)
        self.yes = nn.Linear(d, 1)
        self.level = nn.Linear(d, 2)  # read off [CLS]: yes or no; where on the scale
        for l in (self.out, self.yes, self.level):
            nn.init.normal_(l.weight, std=0.02)
            nn.init.zeros_(l.bias)
        # how much a block has to say about a question, read off [CLS] as well
        self.here = nn.Linear(d, 1, bias=False) if encode.cuts else None
        if self.here:
            nn.init.zeros_(self.here.weight)

    def live(self, part, mask, marker, marker_mask):
        """-> longest head n, where option tokens may start, heads [b,Q,n], each marker's own tokens [b,Q,m,p], biases of live tokens
        over live [b,Q,1,1,t] and over option tokens [b,Q,1,t,p]."""
        is_head = (1 - part) * mask
        lengths = is_head.sum(-1)
        n = lengths.max()
        i = torch.arange(part.size(-1), device=part.device)
        own = ((i >= marker.unsqueeze(-1)) & (marker_mask.unsqueeze(-1) > 0)).to(
            mask.dtype
        )  # [b,Q,m,p]: starts at or before p
        owner = own.sum(-2) * part * mask  # 0: no option; k: the k-th option
        k = torch.arange(1, marker.size(-1) + 1, device=part.device)
        body = (
            part * mask * (1 - (own * (i == marker.unsqueeze(-1)).to(mask.dtype)).sum(-2))
        )  # option tokens but the marker itself
        by_marker = (owner.unsqueeze(-2) == k.unsqueeze(-1)).to(mask.dtype) * body.unsqueeze(-2)  # [b,Q,m,p]
        head_ok = is_head.index_select(-1, torch.arange(n, device=part.device))
        by_head = torch.ones_like(head_ok).unsqueeze(-1) * body.unsqueeze(-2)
        live = torch.cat([head_ok, marker_mask], -1)

        def low(allowed):
            return (1 - allowed.float()) * LOW

        tail = torch.arange(lengths.min(), part.size(-1), device=part.device)
        return (
            n,
            tail,
            head_ok,
            by_marker,
            low(live)[:, :, None, None, :],
            low(torch.cat([by_head, by_marker], -2).index_select(-1, tail)).unsqueeze(2),
        )

    def state(self, hidden):
        """What any question reads of states, hidden [r,c,s,d] -> [r,3+2c,s,d]: the tokens, what they are compared by, their part in
        the comparison; keys and values of each joint layer; what of hidden there is beside, the means of blocks. It ships at the end
        of `encode`: once a state, not once a question set."""
        x, *_ = memory = hidden.unbind(1)
        parts = [x, unit(self.match(x)), self.compare_near(x)]
        for layer, mem in zip(self.joint, memory):
            parts += [layer.k(mem), layer.v(mem)]
        return torch.stack([*parts, *memory[len(self.joint) :]], 1)

    def forward(self, *inputs):
        """The contract's inputs, of states as Encode reads them; in training then state_of [r]: which of them each row is about."""
        prefix, (state_hidden, *rest) = inputs[:8], inputs[8:]
        return self.decide(*prefix, self.state(state_hidden), *rest)

    def decide(self, *inputs):
        """Logits [r,Q,m] of what `state` gives [r,3+2c,s,d]. A state of several blocks is asked block by block."""
        prefix, (state, state_mask, state_pooled, *state_of) = inputs[:8], inputs[8:]
        blocks = Blocks(
            state_mask, self.block, self.long_block, whole_in(state_mask, self.block, self.window)
        )
        if blocks.whole:
            z, _ = self.logits(*prefix, state, state_mask, state_pooled, *state_of)
            return z
        n, state, tokens = state_mask.size(0), blocks.cut(state), blocks.mask.sum(-1)
        if state_of:
            b, n = len(state) // n, len(state_of[0])
            prefix = [t.repeat_interleave(b, 0) for t in prefix]
            of = (state_of[0][:, None] * b + torch.arange(b, device=state.device)).flatten()
            state_of, tokens = [of], tokens[of]
        z, about = self.logits(*prefix, state[:, :-1], blocks.mask, state[:, -1, 0], *state_of)
        return self.over_blocks(z, about, prefix[4], tokens, n)

    def over_blocks(self, z, about, marker_mask, tokens, n):
        """Logits [n*b,Q,m] of n rows' blocks of so many tokens, and how much each has to say [n*b,Q,1] -> [n,Q,m]: the mean of their
        probabilities, where one counts for more that has, or is sure (by the square of the sum of the squares), and one for less
        that has a few tokens only."""
        p = (z + (1 - marker_mask.to(z.dtype)) * LOW).softmax(-1)
        sure = (p * p).sum(-1)
        Q, M = z.size(1), z.size(2)
        tokens = tokens.to(z.dtype)[:, None, None]
        about = (about + (1 - tokens.clamp(max=1)) * LOW).view(n, -1, Q, 1)
        here = (about - about.amax(1, keepdim=True)).exp()
        weight = (tokens.clamp(max=FEW) * (sure * sure).unsqueeze(-1)).view(n, -1, Q, 1) * here
        p = (p.view(n, -1, Q, M) * weight).sum(1) / weight.sum(1)
        return (p + TINY).log()

    def logits(
        self,
        prefix_hidden,
        prefix_mask,
        prefix_part,
        marker,
        marker_mask,
        head_pooled,
        option_pooled,
        qtype,
        state,
        state_mask,
        state_pooled,
        state_of=None,
    ):
        """Logits [r,Q,m] of states of one block, and how much it has to say about each question [r,Q,1]."""

        def each(t):
            return t if state_of is None else t[state_of]

        S, D = state_mask.size(1), prefix_hidden.size(-1)
        R = state_mask.size(0) if state_of is None else state_of.size(0)
        Q, M = marker.size(-2), marker.size(-1)
        n, tail, head_ok, own_tokens, bias_live, bias_option = self.live(
            prefix_part, prefix_mask, marker, marker_mask
        )
        heads = prefix_hidden.index_select(-2, torch.arange(n, device=marker.device))
        marks = (
            torch.gather(prefix_hidden, -2, marker.unsqueeze(-1).expand(-1, -1, -1, D))
            + self.part.weight[1]
            + self.name(option_pooled * D**0.5)
        )
        options = prefix_hidden.index_select(-2, tail)
        bias_state = each(((1 - state_mask.to(heads.dtype)) * LOW)[:, None, None, :])
        own_tokens = own_tokens.to(heads.dtype)
        told, matched, part, *memory = state.unbind(1)
        near, found = self.compared(prefix_hidden, each(told), each(matched), each(part), bias_state[:, 0])
        share = own_tokens / own_tokens.sum(-1, keepdim=True).clamp(min=1)
        of_options = share @ near  # a marker is told the mean over its option's tokens
        option_found = share @ found
        head_share = (head_ok / head_ok.sum(-1, keepdim=True)).unsqueeze(-2).to(heads.dtype)
        head_found = head_share @ found.index_select(-2, torch.arange(n, device=marker.device))
        y = torch.cat([heads + self.part.weight[0], marks], -2) + self.told(
            torch.cat([near.index_select(-2, torch.arange(n, device=marker.device)), of_options], -2)
        )
        for i, l in enumerate(self.joint):
            e = D // l.heads
            x, own = y, bias_option
            before = y
            if i == len(self.joint) - 1:  # at the end only [CLS] and the markers are asked for
                asked = torch.cat(
                    [torch.zeros(1, dtype=torch.long, device=y.device), n + torch.arange(M, device=y.device)]
                )
                x, own = y.index_select(-2, asked), own.index_select(-2, asked)
            B, T = x.size(0), x.size(-2)
            said = self.static[i](options)
            q, k, v = l.split(l.q(x) * e**-0.5), l.split(l.k(y)), l.split(l.v(y))  # [B,Q,h,t,e]
            ok, ov = l.split(l.k(said)), l.split(l.v(said))
            mk, mv = (each(l.split(m)) for m in memory[2 * i : 2 * i + 2])  # [R,h,s,e]
            flat = q.transpose(1, 2).reshape(B, l.heads, Q * T, e)
            a_state = (flat @ mk.transpose(-1, -2) + bias_state).view(R, l.heads, Q, T, S).transpose(1, 2)
            scores = [q @ k.transpose(-1, -2) + bias_live, q @ ok.transpose(-1, -2) + own, a_state]
            top = torch.maximum(
                torch.maximum(scores[0].amax(-1, True), scores[1].amax(-1, True)), scores[2].amax(-1, True)
            ).detach()
            e_live, e_option, e_state = ((s - top).exp() for s in scores)
            total = e_live.sum(-1, True) + e_option.sum(-1, True) + e_state.sum(-1, True)
            from_state = (
                (e_state.transpose(1, 2).reshape(R, l.heads, Q * T, S) @ mv)
                .view(R, l.heads, Q, T, e)
                .transpose(1, 2)
            )
            read = (e_live @ v + e_option @ ov + from_state) / total
            y = self.drop(l.rest(x, read.transpose(-2, -3).flatten(-2)))
        head = (head_share @ before.index_select(-2, torch.arange(n, device=y.device))).squeeze(-2)
        found = (option_found, head_found)
        return self.readout(
            y, head, found, marker_mask, head_pooled, option_pooled, qtype, each(state_pooled)
        )

    def compared(self, x, state, matched, part, bias):
        """x [b,Q,t,d] beside what of the state [r,s,d] is most like each of its tokens -> [r,Q,t,d], and how like [r,Q,t,1]."""
        B, Q, T, D = x.shape
        R = state.size(0)
        like = unit(self.match(x)).view(B, Q * T, D) @ matched.transpose(-1, -2)
        a = (self.sharp * like + bias).softmax(-1)
        near, told = ((a @ t).view(R, Q, T, D) for t in (state, part))
        found = (a * like).sum(-1).view(R, Q, T, 1)
        return F.gelu(self.compare(x) + told + self.compare_product(x * near)), found

    def readout(self, y, head, found, marker_mask, head_pooled, option_pooled, qtype, state_pooled):
        """Logits [r,Q,m]: the similarity of option and state, scaled, plus what reading adds to it; and how much the state has to say
        [r,Q,1], of a base whose states are cut. Head and options enter by their products with the state or after the joint layers read
        it: read without the state, they would be learnt by heart."""
        R, D = state_pooled.size(0), y.size(-1)
        marks, cls = y[:, :, 1:] + self.kind(qtype).unsqueeze(-2), y[:, :, 0] + self.kind(qtype)
        o = option_pooled.expand(R, -1, -1, -1)
        os = o * state_pooled[:, None, None]
        hs = head_pooled.expand(R, -1, -1) * state_pooled[:, None]
        cos, head_cos = os.sum(-1, keepdim=True), hs.sum(-1, keepdim=True)
        option_found, head_found = found
        head = self.norm_head(head)
        of_question = torch.cat([self.norm(cls), head, hs * D], -1)
        question_like = torch.cat([head_cos, head_found.squeeze(-1)], -1) * 4
        f = torch.cat(
            [self.norm(marks), os * D, of_question.unsqueeze(2).expand(-1, -1, marks.size(2), -1)], -1
        )
        like = torch.cat([head_cos.unsqueeze(2).expand_as(cos), cos, option_found], -1) * 4
        z = self.scale[qtype].unsqueeze(-1) * cos.squeeze(-1)
        f = F.gelu(self.fc(self.drop(f)) + self.fc_like(like))
        z = z + self.trust[qtype].unsqueeze(-1) * self.out(self.drop(f)).squeeze(-1)
        g = self.drop(F.gelu(self.whole(self.drop(of_question)) + self.whole_like(question_like)))
        at = torch.arange(marks.size(2), device=y.device)
        ones = torch.ones_like(z)
        z = z + ones * ((qtype == NOUL).unsqueeze(-1) & (at == 1)).to(z.dtype) * self.yes(g)
        last = (marker_mask.sum(-1, keepdim=True) - 1).clamp(min=1).to(z.dtype)
        where = self.level(g)
        x = at / last  # 0 lowest level, 1 highest
        z = z + (qtype == SCORE).unsqueeze(-1).to(z.dtype) * (
            where[..., :1] * x * 4 - F.softplus(where[..., 1:]) * (2 * x - 1) ** 2
        )
        return z.masked_fill(marker_mask == 0, LOW), self.here(g) if self.here else None


def models(base, depths, reader="", **options):
    """-> Encode, Decide. `reader`: a narrower encoder, whose last layers the joint ones start as: a wide encoder then has cheap questions."""
    if not reader:
        encode = Encode(base, depths)
        return encode, Decide(encode, **options)
    narrow = Encode(reader, depths)
    encode, decide = Encode(base, depths, narrow.width), Decide(narrow, **options)
    decide.block, decide.long_block = encode.block, encode.long_block
    return encode, decide
