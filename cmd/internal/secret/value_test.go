package secret

import (
	"strings"
	"testing"

	"github.com/deed-project/deed/value"
)

func TestShow(t *testing.T) {
	long := strings.Repeat("0123456789", 8)
	for _, c := range []struct {
		value value.Value
		want  string
	}{
		{value.Value{}, "(not set)"},
		{value.Null(), "null"},
		{value.String("<a> & \"b\"\n"), `"<a> & \"b\"\n"`},
		{value.String(`\u003c`), `"\\u003c"`},
		{value.String(long), `"` + long[:maxShown-1] + "… (80 characters)"},
		{value.List(value.String(long)), `["` + long[:maxShown-2] + "… (1 item, 84 characters)"},
	} {
		if got := Public(c.value).String(); got != c.want {
			t.Errorf("show(%v) = %s, want %s", c.value, got, c.want)
		}
	}
	a, b := Texts(Public(value.String(long+"a")), Public(value.String(long+"b")))
	if !strings.HasSuffix(a, `89a" (81 characters)`) || !strings.HasSuffix(b, `89b" (81 characters)`) {
		t.Errorf("the difference is not shown: %s and %s", a, b)
	}
	for _, same := range []string{long, "short"} {
		if a, b := Texts(Public(value.String(same)), Public(value.String(same))); a != b || a == "" {
			t.Errorf("equal values are shown as %s and %s", a, b)
		}
	}
}
