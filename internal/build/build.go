// Package build reports the build of a program: the version of its module, the commit, and the release of Go.
package build

import (
	"fmt"
	"runtime"
	"runtime/debug"
	"strings"
)

// Kubernetes is the release of Kubernetes whose answers deed gives.
const Kubernetes = "Kubernetes v1.37"

// commit is set by the linker in archives of a release, because these are not built in a checkout.
var commit string

// Info describes the build of a program.
type Info struct {
	Version    string `json:"version"`          // version of the module that holds the program, or "(devel)"
	Commit     string `json:"commit,omitempty"` // "" for a program that go install built from a published module
	Kubernetes string `json:"answersAs"`
	Go         string `json:"go"`
}

// Read returns the Info of the running program.
func Read() Info {
	info := Info{Version: "(unknown version)", Commit: commit, Kubernetes: Kubernetes, Go: runtime.Version()}
	built, ok := debug.ReadBuildInfo()
	if !ok {
		return info
	}
	if built.Main.Version != "" {
		info.Version = built.Main.Version
	}
	if info.Commit == "" {
		info.Commit = revision(built.Settings)
	}
	return info
}

// revision returns the commit of the checkout of the build, or "". It appends "+dirty" if files had changed.
func revision(settings []debug.BuildSetting) string {
	var id, suffix string
	for _, s := range settings {
		switch {
		case s.Key == "vcs.revision":
			id = s.Value
		case s.Key == "vcs.modified" && s.Value == "true":
			suffix = "+dirty"
		}
	}
	if id == "" {
		return ""
	}
	return id + suffix
}

// Text returns the lines that program prints about its build.
func (i Info) Text(program string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s %s\n", program, i.Version)
	if i.Commit != "" {
		fmt.Fprintf(&b, "commit %s\n", i.Commit)
	}
	fmt.Fprintf(&b, "built with %s\nanswers as %s\n", i.Go, i.Kubernetes)
	return b.String()
}
