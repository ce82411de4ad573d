// Package schematest makes random structural schemas, and objects for them, and compares the errors about these with the library's.
package schematest

import (
	"fmt"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/internal/testing/gen"
	"github.com/deed-project/deed/schema/structural"
	"github.com/deed-project/deed/value"
)

// Write returns an object and, in most cases, a live one that it replaces and shares parts with.
func Write(c *gen.Choices, schema value.Value, pruning *structural.Schema) (object, live value.Value) {
	make := func() value.Value {
		out, _ := pruning.Prune(Value(c, schema, 4))
		if out.Kind() != value.KindObject {
			out = value.Object()
		}
		return out.With("kind", value.String("K")).With("metadata", value.Object(value.Member{Name: "name", Value: value.Int(1)}))
	}
	object = make()
	if c.Chance(35) {
		return object, value.Value{}
	}
	live = make()
	return change(c, live, object, 3), live
}

// change returns live with some parts replaced by those of object.
func change(c *gen.Choices, live, object value.Value, depth int) value.Value {
	if live.Kind() != value.KindObject || object.Kind() != value.KindObject || depth == 0 {
		return object
	}
	for i := range object.Len() {
		if m := object.Member(i); c.Chance(30) {
			live = live.With(m.Name, change(c, live.Get(m.Name), m.Value, depth-1))
		}
	}
	return live
}

// RequireOrder fails the test if errors are in an order in which the library never has them. The library's own order is random.
func RequireOrder(t *testing.T, errs field.ErrorList, library func() field.ErrorList) {
	t.Helper()
	got, seen := texts(errs), map[string]bool{}
	// A range over a map begins at one of eight places, often at an empty one. So of two members, the second comes first once in eight times, and of
	// four errors in maps within maps, the rarest order comes once in 512 times.
	for range 100_000 {
		order := texts(library())
		if order == got {
			return
		}
		seen[order] = true
	}
	t.Fatalf("the library never has the order\n%s\nbut\n%s", got, strings.Join(slices.Sorted(maps.Keys(seen)), "\n\n"))
}

// texts returns the texts of errors in their order.
func texts(errs field.ErrorList) string {
	var b strings.Builder
	for _, err := range errs {
		fmt.Fprintln(&b, err)
	}
	return b.String()
}

// Sorted returns the texts of errors, and further lines, in alphabetic order.
func Sorted(errs field.ErrorList, lines []string) string {
	for _, err := range errs {
		lines = append(lines, err.Error())
	}
	slices.Sort(lines)
	return strings.Join(lines, "\n")
}

// Number returns the number in an environment variable, or otherwise if it is not set.
func Number(t *testing.T, variable string, otherwise int) int {
	text := os.Getenv(variable)
	if text == "" {
		return otherwise
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		t.Fatalf("%s: %v", variable, err)
	}
	return n
}

// Reread returns a schema as it decodes from text, where whole numbers are integers.
func Reread(t *testing.T, v value.Value) value.Value {
	out, err := value.Parse(v.AppendJSON(nil))
	if err != nil {
		t.Fatal(err)
	}
	return out
}
