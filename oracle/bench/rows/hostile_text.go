package rows

import (
	"fmt"
	"strings"

	utiljson "k8s.io/apimachinery/pkg/util/json"

	"github.com/deed-project/deed/oracle/bench/measure"
	"github.com/deed-project/deed/value"
)

// hostileTexts are texts that are made to be read again and again.
func hostileTexts() []Row {
	return []Row{
		hostile("set-parse-deep", 20000, func(n int) (sides, error) { return parseSet(deepSet(n)), nil }),
		hostile("item-parse-deep", 8000, func(n int) (sides, error) { return parseSet(deepItem(n)), nil }),
		hostile("parse-long-names", 400000, func(n int) (sides, error) { return parseObject(longNames(n)), nil }),
	}
}

// deepItem has one item, an object of n levels, none of which is in order, around a text.
func deepItem(n int) []byte {
	return []byte(`{"v:` + strings.Repeat(`{\"b\":`, n) + `\"` + strings.Repeat("x", n) + `\"` + strings.Repeat(`,\"a\":1}`, n) + `":{}}`)
}

// longNames has two names of n bytes that differ in the middle, before short ones.
func longNames(n int) []byte {
	name := strings.Repeat("a", n)
	var b strings.Builder
	fmt.Fprintf(&b, `{"%s":1,"%sb%s":2`, name, name[:n/2], name[:n/2])
	for i := 30; i > 0; i-- {
		fmt.Fprintf(&b, `,"a%d":3`, i)
	}
	b.WriteString("}")
	return []byte(b.String())
}

// parseObject reads the text of an object.
func parseObject(text []byte) sides {
	return sides{
		deed: func() (measure.Worker, error) {
			var v value.Value
			run := func() (err error) { v, err = value.Parse(text); return err }
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(v) }}, nil
		},
		peer: func() (measure.Worker, error) {
			var content map[string]any
			run := func() error {
				content = nil
				return utiljson.Unmarshal(text, &content)
			}
			return measure.Worker{Run: run, Answer: func() (string, error) { return canonical(content) }}, nil
		},
	}
}
