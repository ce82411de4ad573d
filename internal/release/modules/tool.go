package modules

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
)

// Tool runs the go command as if this repository were not there: without a workspace, and with its own module cache. Of the
// user's Go settings, it keeps only the build cache and the variables in kept. Programs are built without C, and without the
// paths of their source files.
//
// Tool takes modules from two folders: its proxy, and the downloads in the user's module cache. It uses neither the network nor
// the checksum database. [Tidy] downloads missing modules, and verifies them by the go.sum files.
type Tool struct {
	dir string // "" is the working directory
	env []string
}

// kept lists the variables of the go command that Tool takes from the user's environment.
var kept = []string{"GOROOT", "GOTOOLCHAIN", "GOTMPDIR"}

// NewTool returns a Tool that reads the proxy in one folder and keeps its modules in another.
func NewTool(proxy, cache string) (*Tool, error) {
	out, err := exec.Command("go", "env", "-json", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	var user struct{ GOMODCACHE, GOCACHE string }
	if err := json.Unmarshal(out, &user); err != nil {
		return nil, fmt.Errorf("go env: %w", err)
	}
	first, err := FileURL(proxy)
	if err != nil {
		return nil, err
	}
	second, err := FileURL(filepath.Join(user.GOMODCACHE, "cache", "download"))
	if err != nil {
		return nil, err
	}
	t := &Tool{env: slices.DeleteFunc(os.Environ(), func(variable string) bool {
		name, _, _ := strings.Cut(variable, "=")
		return strings.HasPrefix(name, "GO") && !slices.Contains(kept, name)
	})}
	return t.With("GOENV=off", "GOWORK=off", "GOPROXY="+first+","+second, "GOSUMDB=off", "GOMODCACHE="+cache, "GOCACHE="+user.GOCACHE,
		"GOFLAGS=-trimpath -buildvcs=false -modcacherw", "CGO_ENABLED=0"), nil
}

// With returns t with more variables in its environment.
func (t *Tool) With(env ...string) *Tool { return &Tool{t.dir, append(slices.Clip(t.env), env...)} }

// In returns t in another working directory.
func (t *Tool) In(dir string) *Tool { return &Tool{dir, t.env} }

// Run runs go with args, and returns its output.
func (t *Tool) Run(args ...string) ([]byte, error) {
	cmd := exec.Command("go", args...)
	cmd.Dir, cmd.Env = t.dir, t.env
	var errs bytes.Buffer
	cmd.Stderr = &errs
	out, err := cmd.Output()
	if err != nil {
		return out, fmt.Errorf("go %s: %w\n%s%s", strings.Join(args, " "), err, out, errs.Bytes())
	}
	return out, nil
}
