package hostile

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
)

// Bounds of every request.
const (
	// PerByte is the number of bytes that a server may allocate, beyond Free, per byte of the request and of its objects.
	PerByte = 64
	// PerDefinitionByte is PerByte for definitions, which several libraries decode into their own structs. A server validates at most 1.5
	// MiB of definitions at a time.
	PerDefinitionByte = 2048
	// Free is the number of bytes that a server may allocate for any request.
	Free = 64 << 20
	// MostAnswered bounds the length of an answer without stored objects.
	MostAnswered = 16 << 20
)

// Cost is the cost of a request to a server.
type Cost struct {
	Code      int    // of the answer
	Text      string // the begin of the body
	Sent      int    // bytes of the request's body
	Stored    int    // bytes of the objects that the request is about
	Answered  int    // bytes of the answer's body
	Allocated int64  // bytes; 0 if unknown
}

// IsLate reports whether the request exceeded its deadline and the server said so. On a machine that runs many attacks at once, every
// request may.
func (c Cost) IsLate() bool {
	return c.Code == http.StatusGatewayTimeout && strings.Contains(c.Text, "did not complete within")
}

// Excess returns what is wrong with the cost of a request of the attack, or "". Either the cost exceeds a bound, or the answer is wrong.
// largest tells that the request is the largest form of the attack.
func (a Attack) Excess(c Cost, largest bool) string {
	perByte := a.PerByte
	if perByte == 0 {
		perByte = PerByte
	}
	switch most := perByte*int64(c.Sent+c.Stored) + Free; {
	case c.Allocated > most:
		return fmt.Sprintf("it allocates %d bytes, more than %d", c.Allocated, most)
	case c.Answered > MostAnswered && !a.Reads:
		return fmt.Sprintf("the answer is %d bytes long, more than %d", c.Answered, MostAnswered)
	case !slices.Contains(a.Codes, c.Code):
		return fmt.Sprintf("the answer is %d, none of %v: %s", c.Code, a.Codes, short(c.Text))
	case largest && !strings.Contains(c.Text, a.Says):
		return fmt.Sprintf("the answer does not say %q: %s", a.Says, short(c.Text))
	}
	return ""
}

// short returns a text without its middle.
func short(text string) string {
	if len(text) <= 1000 {
		return text
	}
	return text[:500] + " … " + text[len(text)-500:]
}

// Grows reports whether a count at n, 2n and 4n grows faster than n: the count at 4n exceeds what the other two predict. free is the
// allowed noise, because pools of buffers make counts of bytes vary.
//
//	n        1  2   4    4 times the first, twice the second
//	n log n  1  2.2 4.8  4.8 times, 2.2 times
//	n²       1  4   16   16 times, 4 times
func Grows(counts [3]int64, free int64) bool {
	return counts[2] > max(counts[0]*24/5, counts[1]*12/5)+free
}
