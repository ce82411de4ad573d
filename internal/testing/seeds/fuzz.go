package seeds

import (
	"math/rand/v2"
	"os"
	"runtime/debug"
	"slices"
	"strconv"
	"testing"
)

// Inputs is the environment variable with the number of inputs that [Fuzz] makes itself.
const Inputs = "DEED_INPUTS"

// Fuzz calls f.Fuzz for a target of one input, with corpus as the first inputs.
//
// If the variable [Inputs] has a number, Fuzz makes that many inputs itself, from corpus and at random. It ignores coverage, but
// a target sees up to a hundred times as many inputs in the same time. Use it for long runs.
//
//	DEED_INPUTS=20000000 go test -run '^FuzzParsePath$' ./fieldpath
func Fuzz[Input ~string | ~[]byte](f *testing.F, corpus []Input, target func(*testing.T, Input)) {
	f.Helper()
	if many := os.Getenv(Inputs); many != "" {
		n, err := strconv.ParseUint(many, 10, 64)
		if err != nil {
			f.Fatalf("%s: %v", Inputs, err)
		}
		f.Add(corpus[0]) // f.Fuzz needs an input
		f.Fuzz(func(t *testing.T, _ Input) { mutate(t, n, corpus, target) })
		return
	}
	for _, input := range corpus {
		f.Add(input)
	}
	f.Fuzz(target)
}

// mutate calls target with n inputs.
func mutate[Input ~string | ~[]byte](t *testing.T, n uint64, corpus []Input, target func(*testing.T, Input)) {
	m := mutator{random: Rand(t)}
	for _, input := range corpus {
		m.corpus = append(m.corpus, []byte(input))
	}
	var input []byte
	defer func() {
		if p := recover(); p != nil {
			t.Errorf("panic: %v\n%s", p, debug.Stack())
		}
		if t.Failed() {
			t.Logf("the input is %q", input)
		}
	}()
	for i := uint64(0); i < n && !t.Failed(); i++ {
		input = m.next()
		target(t, Input(input))
	}
	t.Logf("%d inputs", n)
}

// mutator makes inputs from other inputs.
type mutator struct {
	random *rand.Rand
	corpus [][]byte
	input  []byte
}

// pieces are texts with a meaning to parsers.
var pieces = []string{
	"{", "}", "[", "]", `"`, `\`, `\u0000`, `\ud800`, ":", ",", "=", "&", ";", "/", "~0", "~1", ".", "-", "+", "%", "%2", "%00", "!", "*", "$", "@", "?",
	"(", ")", " ", "\n", "\t", "  ", "- ", ": ", "#", "---\n", "null", "true", "false", "0", "-0", "1", "1e9", "1E-400", "9223372036854775808", "1.5",
	"in", "notin", "k:", "f:", "v:", "i:", "~", "\x00", "\xff", "\xc3", "\x80", "é", "\u2028", "😀", "\x7f", "\xbf", "\x1b", "\xfb\x7f\xf0",
}

// next returns an input: one of the corpus, with a few parts replaced. It is valid until the next call.
func (m *mutator) next() []byte {
	const longest = 4 << 10
	m.input = append(m.input[:0], m.one()...)
	for range 1 + m.random.IntN(4) {
		from := m.random.IntN(len(m.input) + 1)
		to := from
		if m.random.IntN(2) == 0 {
			to += m.random.IntN(min(len(m.input)-from, 16) + 1)
		}
		var part []byte
		switch m.random.IntN(5) {
		case 0:
			to = min(to+1, len(m.input))
		case 1:
			part = []byte{byte(m.random.Uint32())}
		case 2:
			part = []byte(pieces[m.random.IntN(len(pieces))])
		case 3:
			part = m.part(m.one())
		case 4:
			part = slices.Repeat(m.part(m.input), 1+m.random.IntN(3))
		}
		m.input = slices.Replace(m.input, from, to, part...)
		m.input = m.input[:min(len(m.input), longest)]
	}
	return m.input
}

// one returns an input of the corpus.
func (m *mutator) one() []byte { return m.corpus[m.random.IntN(len(m.corpus))] }

// part returns a copy of a part of text.
func (m *mutator) part(text []byte) []byte {
	from := m.random.IntN(len(text) + 1)
	return slices.Clone(text[from : from+m.random.IntN(len(text)-from+1)])
}
