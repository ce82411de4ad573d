package wording

import "testing"

func TestWidth(t *testing.T) {
	for text, want := range map[string]int{
		"": 0, "web": 3, "é": 1, "e\u0301": 1, "日本": 4, "한글": 4, "ｗｅｂ": 6, "カナ": 4, "ｶﾅ": 2, "🚀": 2, "…": 1, "│": 1,
	} {
		if got := Width(text); got != want {
			t.Errorf("%q: got %d columns, want %d", text, got, want)
		}
	}
	if got := Pad("日本", 6); got != "日本  " {
		t.Errorf("got %q", got)
	}
	if got := Table([][]string{{"日本", "a"}, {"x", "b"}}); got != "日本  a\nx     b\n" {
		t.Errorf("got %q", got)
	}
}
