package build

import (
	"runtime/debug"
	"testing"
)

func TestRevision(t *testing.T) {
	const id = "0ac3aa9d"
	for _, c := range []struct {
		settings []debug.BuildSetting
		want     string
	}{
		{nil, ""},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}}, ""},
		{[]debug.BuildSetting{{Key: "vcs.revision", Value: id}, {Key: "vcs.modified", Value: "false"}}, id},
		{[]debug.BuildSetting{{Key: "vcs.modified", Value: "true"}, {Key: "vcs.revision", Value: id}}, id + "+dirty"},
	} {
		if got := revision(c.settings); got != c.want {
			t.Errorf("revision(%v) = %q, want %q", c.settings, got, c.want)
		}
	}
}

func TestText(t *testing.T) {
	i := Info{Version: "v0.1.0", Commit: "0ac3aa9d", Kubernetes: Kubernetes, Go: "go1.26.8"}
	const want = "deed v0.1.0\ncommit 0ac3aa9d\nbuilt with go1.26.8\nanswers as Kubernetes v1.37\n"
	if got := i.Text("deed"); got != want {
		t.Errorf("with a commit:\n%s", got)
	}
	i.Commit = ""
	if got := i.Text("deed"); got != "deed v0.1.0\nbuilt with go1.26.8\nanswers as Kubernetes v1.37\n" {
		t.Errorf("without a commit:\n%s", got)
	}
}
