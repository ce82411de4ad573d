package value

import (
	"encoding/json"
	"testing"
)

// TestPodFromGo takes a document through a Go struct in all directions: each must agree with encoding/json.
func TestPodFromGo(t *testing.T) {
	var p, filled pod
	if err := json.Unmarshal(podText(t), &p); err != nil {
		t.Fatal(err)
	}
	checkFromGo(t, &p)
	v := mustParse(t, podText(t))
	if err := v.Into(&filled); err != nil {
		t.Fatal(err)
	}
	checkSame(t, filled, p)
}

// checkFromGo fails the test unless FromGo(x) is what Parse makes of encoding/json's text for x.
func checkFromGo(t *testing.T, x any) {
	t.Helper()
	text, err := json.Marshal(x)
	if err != nil {
		t.Fatalf("encoding/json refuses %#v: %v", x, err)
	}
	want := mustParse(t, text)
	got, err := FromGo(x)
	if err != nil {
		t.Errorf("FromGo(%#v): %v", x, err)
	} else if !got.Equal(want) {
		t.Errorf("FromGo(%#v)\n got %v\nwant %v", x, got, want)
	}
}

// checkSame fails the test unless got and want print alike.
func checkSame(t *testing.T, got, want any) {
	t.Helper()
	gotText, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	wantText, err := json.Marshal(want)
	if err != nil {
		t.Fatal(err)
	}
	if string(gotText) != string(wantText) {
		t.Errorf("got  %s\nwant %s", gotText, wantText)
	}
}
