package value

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"
)

// TestNamesAreShared shows that equal names share memory, and that a caller may change the text
// that was parsed.
func TestNamesAreShared(t *testing.T) {
	text := []byte(`[{"name":1},{"name":2}]`)
	v := mustParse(t, text)
	clear(text)
	a, b := v.Item(0).Member(0).Name, v.Item(1).Member(0).Name
	if a != "name" || unsafe.StringData(a) != unsafe.StringData(b) {
		t.Errorf("the names %q and %q are two", a, b)
	}
	var table nameTable
	for i := range 5000 {
		want := strings.Repeat("x", i%60) + fmt.Sprint(i%700)
		if got := table.get(want); got != want {
			t.Fatalf("got %q, want %q", got, want)
		}
	}
}
