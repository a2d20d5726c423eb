package tinymodel

import (
	"fmt"
	"math"
	"math/rand/v2"
)

// tensor is one named array of the model and how its values are drawn.
type tensor struct {
	name  string
	shape []int // shape[0] is the length of a row
	kind  kind
	fill  fill
}

// fill sets one row of a tensor. Rows are filled in order from one generator.
type fill func(rng *rand.Rand, row int, out []float32)

func (t tensor) elements() int {
	n := 1
	for _, d := range t.shape {
		n *= d
	}
	return n
}

func (t tensor) rows() int { return t.elements() / t.shape[0] }

// constant is the value of dimension 0 in every embedding. No block writes to
// that dimension, so it reaches the output unchanged but for the last norm, and
// column 0 of the output matrix acts as the bias that the architecture lacks.
const constant = 6.0

// layout lists the tensors of a llama model in file order. The values are scaled
// so that activations keep about unit variance from the first block to the last.
func layout(c Config, voc vocabulary) []tensor {
	var (
		perDim      = 1 / math.Sqrt(float64(c.Dim))
		perInner    = 1 / math.Sqrt(float64(c.FeedForward))
		perResidual = 1 / math.Sqrt(float64(2*c.Layers)) // two additions a block
	)
	matrix := func(name string, f fill, in, out int) tensor { return tensor{name, []int{in, out}, half, f} }
	norm := func(name string) tensor { return tensor{name, []int{c.Dim}, single, ones} }

	ts := []tensor{matrix("token_embd.weight", embedding, c.Dim, len(voc.tokens))}
	for l := range c.Layers {
		in := func(part string) string { return fmt.Sprintf("blk.%d.%s.weight", l, part) }
		ts = append(ts,
			norm(in("attn_norm")),
			matrix(in("attn_q"), normal(perDim), c.Dim, c.Dim),
			matrix(in("attn_k"), normal(perDim), c.Dim, c.kvDim()),
			matrix(in("attn_v"), normal(perDim), c.Dim, c.kvDim()),
			matrix(in("attn_output"), sparing0(perDim*perResidual), c.Dim, c.Dim),
			norm(in("ffn_norm")),
			matrix(in("ffn_gate"), normal(perDim), c.Dim, c.FeedForward),
			matrix(in("ffn_up"), normal(perDim), c.Dim, c.FeedForward),
			matrix(in("ffn_down"), sparing0(perInner*perResidual), c.FeedForward, c.Dim),
		)
	}
	return append(ts,
		norm("output_norm.weight"),
		matrix("output.weight", logits(c, voc), c.Dim, len(voc.tokens)),
	)
}

func ones(_ *rand.Rand, _ int, out []float32) {
	for i := range out {
		out[i] = 1
	}
}

// normal draws from a normal distribution around 0.
func normal(std float64) fill {
	return func(rng *rand.Rand, _ int, out []float32) {
		for i := range out {
			out[i] = float32(rng.NormFloat64() * std)
		}
	}
}

// embedding draws an embedding whose dimension 0 is the constant.
func embedding(rng *rand.Rand, row int, out []float32) {
	normal(1)(rng, row, out)
	out[0] = constant
}

// sparing0 is normal, but writes nothing to dimension 0.
func sparing0(std float64) fill {
	draw := normal(std)
	return func(rng *rand.Rand, row int, out []float32) {
		draw(rng, row, out)
		if row == 0 {
			clear(out)
		}
	}
}

// logits draws the output matrix: standard deviation c.Spread for each logit,
// and the penalty, by way of the constant, for tokens that must not be chosen.
func logits(c Config, voc vocabulary) fill {
	draw := normal(c.Spread / math.Sqrt(float64(c.Dim)))
	// After all residual additions a dimension has variance 2 or so; the last
	// norm divides by the root of the mean square, the constant's share included.
	atOutput := constant / math.Sqrt(2+constant*constant/float64(c.Dim))
	return func(rng *rand.Rand, row int, out []float32) {
		draw(rng, row, out)
		out[0] = 0
		if !voc.printable(row) {
			out[0] = float32(-c.Penalty / atOutput)
		}
	}
}

// chatTemplate is ChatML.
const chatTemplate = `{% for message in messages %}{{ '<|im_start|>' + message['role'] + '\n' + message['content'] + '<|im_end|>\n' }}{% endfor %}` +
	`{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}`

// metadata describes the model to the server that loads it.
func metadata(c Config, voc vocabulary) []entry {
	return []entry{
		{"general.architecture", stringValue("llama")},
		{"general.name", stringValue(c.Name)},
		{"general.file_type", uint32Value(fileTypeHalf)},
		{"general.quantization_version", uint32Value(2)},
		{"llama.vocab_size", uint32Value(len(voc.tokens))},
		{"llama.context_length", uint32Value(c.Context)},
		{"llama.embedding_length", uint32Value(c.Dim)},
		{"llama.block_count", uint32Value(c.Layers)},
		{"llama.feed_forward_length", uint32Value(c.FeedForward)},
		{"llama.attention.head_count", uint32Value(c.Heads)},
		{"llama.attention.head_count_kv", uint32Value(c.KVHeads)},
		{"llama.attention.layer_norm_rms_epsilon", float32Value(1e-5)},
		{"llama.rope.dimension_count", uint32Value(c.headDim())},
		{"llama.rope.freq_base", float32Value(10000)},
		{"tokenizer.ggml.model", stringValue("gpt2")},
		{"tokenizer.ggml.pre", stringValue("gpt-2")},
		{"tokenizer.ggml.tokens", stringsValue(voc.tokens)},
		{"tokenizer.ggml.token_type", int32sValue(voc.types())},
		{"tokenizer.ggml.merges", stringsValue(voc.merges)},
		{"tokenizer.ggml.bos_token_id", uint32Value(voc.id(textEnd))},
		{"tokenizer.ggml.eos_token_id", uint32Value(voc.id(turnEnd))},
		{"tokenizer.ggml.padding_token_id", uint32Value(voc.id(textEnd))},
		{"tokenizer.ggml.add_bos_token", boolValue(false)},
		{"tokenizer.chat_template", stringValue(chatTemplate)},
	}
}
