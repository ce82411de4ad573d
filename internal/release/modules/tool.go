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

// Tool runs the go command as if this repository were not there: without a workspace, with a module cache of its own, and with no
// setting of the user beside the build cache. Programs are built for any path that they lie at, and without C.
//
// It takes modules from two folders: the proxy that it is made with, and what the user's module cache has downloaded. It asks no
// network, and no checksum database: [Tidy] downloads what is missing, and verifies it by the go.sum files.
type Tool struct {
	dir string // "" is the working directory
	env []string
}

// kept are the variables of the go command that the user's environment decides.
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

// Run runs go with args, and returns what it prints.
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
