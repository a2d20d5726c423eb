package tinymodel

import (
	"regexp"
	"slices"
	"strings"
)

// The control tokens of ChatML, last in every vocabulary.
const (
	textEnd   = "<|endoftext|>"
	turnStart = "<|im_start|>"
	turnEnd   = "<|im_end|>"

	numControls = 3
)

// Token types of the format.
const (
	typeNormal  = 1
	typeControl = 3
)

// vocabulary is a byte-level BPE vocabulary: the 256 bytes, what the merges
// make of them, and the control tokens. Bytes appear as in byteRunes.
type vocabulary struct {
	tokens []string
	merges []string // "left right", in order of precedence
}

func (v vocabulary) id(token string) int { return slices.Index(v.tokens, token) }

func (v vocabulary) control(id int) bool { return id >= len(v.tokens)-numControls }

func (v vocabulary) types() []int32 {
	types := make([]int32, len(v.tokens))
	for id := range types {
		types[id] = typeNormal
		if v.control(id) {
			types[id] = typeControl
		}
	}
	return types
}

// printable reports whether a token stands for visible ASCII, spaces and line
// ends only.
func (v vocabulary) printable(id int) bool {
	return !v.control(id) && !strings.ContainsFunc(v.tokens[id], func(r rune) bool {
		return (r < '!' || r > '~') && r != byteRunes[' '] && r != byteRunes['\n']
	})
}

// byteRunes is the map of GPT-2 from bytes to visible runes: bytes that are
// visible in Latin-1 stand for themselves, the others for U+0100 and up.
var byteRunes = func() (m [256]rune) {
	next := rune(0x100)
	for b := range rune(len(m)) {
		switch {
		case '!' <= b && b <= '~', 0xa1 <= b && b <= 0xff && b != 0xad:
			m[b] = b
		default:
			m[b] = next
			next++
		}
	}
	return m
}()

// chunkPattern cuts text as GPT-2 does with plain English: letters, digits or
// signs in a row, each with at most one space before it, and other white space
// by itself. No merge crosses a cut.
var chunkPattern = regexp.MustCompile(` ?[A-Za-z]+| ?[0-9]+| ?[^\sA-Za-z0-9]+|\s`)

// chunk is a stretch of the corpus that merges act on, as tokens.
type chunk struct {
	tokens []string
	count  int // times that it occurs
}

// pair is two tokens side by side.
type pair struct{ left, right string }

// trainVocabulary learns merges from text until there are size tokens with the
// control tokens, or nothing is left to merge.
func trainVocabulary(text string, size int) vocabulary {
	var v vocabulary
	for _, r := range byteRunes {
		v.tokens = append(v.tokens, string(r))
	}
	chunks := cut(text)
	for len(v.tokens) < size-numControls {
		p, ok := commonest(chunks)
		if !ok {
			break
		}
		joined := p.left + p.right
		v.merges = append(v.merges, p.left+" "+p.right)
		if v.id(joined) < 0 { // the same token can be merged from two pairs
			v.tokens = append(v.tokens, joined)
		}
		for i := range chunks {
			chunks[i].merge(p, joined)
		}
	}
	v.tokens = append(v.tokens, textEnd, turnStart, turnEnd)
	return v
}

// cut splits text into its distinct chunks, in the order of first appearance.
func cut(text string) []chunk {
	var chunks []chunk
	seen := map[string]int{}
	for _, s := range chunkPattern.FindAllString(text, -1) {
		i, ok := seen[s]
		if !ok {
			i = len(chunks)
			seen[s] = i
			chunks = append(chunks, chunk{tokens: byteTokens(s)})
		}
		chunks[i].count++
	}
	return chunks
}

func byteTokens(s string) []string {
	tokens := make([]string, len(s))
	for i := range tokens {
		tokens[i] = string(byteRunes[s[i]])
	}
	return tokens
}

// commonest returns the pair that occurs most often; among equals the one met
// first, so that training has one result.
func commonest(chunks []chunk) (best pair, ok bool) {
	count := map[pair]int{}
	var order []pair
	for _, c := range chunks {
		for i := range len(c.tokens) - 1 {
			p := pair{c.tokens[i], c.tokens[i+1]}
			if count[p] == 0 {
				order = append(order, p)
			}
			count[p] += c.count
		}
	}
	for _, p := range order {
		if count[p] > count[best] {
			best, ok = p, true
		}
	}
	return best, ok
}

// merge replaces p by joined from left to right, in place.
func (c *chunk) merge(p pair, joined string) {
	kept := c.tokens[:0]
	for i := 0; i < len(c.tokens); i++ {
		if i+1 < len(c.tokens) && c.tokens[i] == p.left && c.tokens[i+1] == p.right {
			kept = append(kept, joined)
			i++
			continue
		}
		kept = append(kept, c.tokens[i])
	}
	c.tokens = kept
}
