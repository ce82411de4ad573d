package command

import "testing"

// TestEmulatedVersion reads the values of --emulated-version as kube-apiserver does.
func TestEmulatedVersion(t *testing.T) {
	for _, c := range []struct {
		values     []string
		want, fail string
	}{
		{nil, "", ""},
		{[]string{"1.36"}, "1.36", ""},
		{[]string{"kube=1.36"}, "1.36", ""},
		{[]string{" kube = v1.35"}, "1.35", ""},
		{[]string{"1.36.2"}, "", "--emulated-version: patch version not allowed, got: kube=1.36.2"},
		{[]string{"x"}, "", `--emulated-version: could not parse "x" as version`},
		{[]string{"foo=1.36"}, "", "--emulated-version: component not registered: foo"},
		{[]string{"1.36", "kube=1.35"}, "", "--emulated-version: duplicate version flag, kube=1.36 and kube=1.35"},
	} {
		got, err := emulatedVersion(c.values)
		failed := ""
		if err != nil {
			failed = err.Error()
		}
		if got != c.want || failed != c.fail {
			t.Errorf("%v: got %q, %q, want %q, %q", c.values, got, failed, c.want, c.fail)
		}
	}
}
