package cli

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"golang.org/x/tools/txtar"
)

// The test of this file sends secret values through every command, with every flag and in every format, and looks for them in the output.
// The objects are in testdata/canary. Commands and flags come from the command line itself: a new one must be added to the tables here.

// canaryCommand describes the calls of a command.
type canaryCommand struct {
	calls [][]string // the arguments; - marks the end where an unreadable file may be named, see unread
	// unread is the flag before which unreadable files are named. It is empty for commands that read no objects.
	unread string
	// product lists the formats in which the command prints whole objects, because the user asked for them. Only standard error is checked
	// then.
	product []string
}

var schemas = []string{"--crd", "crd.yaml", "--openapi", "openapi.json"}

func with(args ...string) []string { return append(args, schemas...) }

// canaryCommands holds all runnable commands.
var canaryCommands = map[string]canaryCommand{
	"apply": {
		calls:  [][]string{with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml"), with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml", "--force-conflicts")},
		unread: "-f", product: []string{"yaml", "json"},
	},
	"update": {calls: [][]string{with("-f", "new.yaml", "--live", "live.yaml"), with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml")},
		unread: "-f", product: []string{"yaml", "json"}},
	"plan": {calls: [][]string{with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml"), with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml", "--field-manager", "ci"), with("-f", "given.yaml", "--live", "live.yaml", "--kubernetes", "1.31..1.37")},
		unread: "-f"},
	"diff": {calls: [][]string{with("-f", "given.yaml", "-f", "given-safe.yaml", "--live", "live.yaml", "--live", "live-safe.yaml", "--force-conflicts", "--show-managed-fields")}, unread: "-f"},
	"replay": {calls: [][]string{
		{"history.yaml"}, {"history-refused.yaml"}, {"history-patch.yaml"}, {"history-mistakes.yaml"},
	}},
	"blame":  {calls: [][]string{with("-f", "live.yaml", "-f", "live-safe.yaml")}, unread: "-f"},
	"fields": {calls: [][]string{{"-f", "live.yaml", "-f", "crd.yaml"}, {"-f", "live.yaml", "-f", "crd.yaml", "--only", "ops,kubectl"}}, unread: "-f"},
	"explain": {calls: [][]string{
		with(".data", "-f", "live.yaml"), with("data.*", "-f", "live.yaml"), with("data.a.x", "-f", "live.yaml"), with(".data[0]", "-f", "live.yaml"),
		with(".spec", "-f", "live.yaml"), with(".spec.tokens", "-f", "live.yaml"), with(".spec.tokens[*]", "-f", "live.yaml"),
		with(".spec.tokens.x", "-f", "live.yaml"), with(".spec.users.role", "-f", "live.yaml"), with(`.spec.users[token="none"]`, "-f", "live.yaml"),
		with(".spec.users[*]", "-f", "live.yaml"), with("token", "-f", "live.yaml"), with(".metadata.annotations", "-f", "live.yaml"),
		with(".spec.whole", "-f", "live.yaml"), with("key.next", "-f", "live-safe.yaml"), with(".data", "--kind", "Secret"),
	}, unread: "-f"},
	"extract":     {calls: [][]string{with("-f", "live.yaml")}, unread: "-f", product: []string{"yaml", "json"}},
	"check":       {calls: [][]string{with("-f", "live.yaml"), with("-f", "live.yaml", "--schemas")}, unread: "-f"},
	"validate":    {calls: [][]string{with("-f", "given.yaml", "-f", "given-safe.yaml"), with("-f", "live.yaml", "-f", "live-safe.yaml"), with("-f", "given.yaml", "--live", "live.yaml", "--policy", "policy.yaml")}, unread: "-f"},
	"policy":      {calls: [][]string{{}}},
	"helm":        {calls: [][]string{{}}},
	"helm plan":   {calls: [][]string{with("web", "./chart", "--template", "--live", "live.yaml"), with("web", "./chart", "--live", "live.yaml")}},
	"krm":         {calls: [][]string{{}}},
	"policy test": {calls: [][]string{{"-f", "policy-tests.yaml"}}, unread: "-f"},
	"migrate": {calls: [][]string{with("--live", "live.yaml"), with("--live", "live.yaml", "-f", "given.yaml", "--from-last-applied")},
		unread: "--live", product: []string{"yaml", "json", "patch", "kubectl"}},
	"transfer": {calls: [][]string{with("--live", "live.yaml", "-f", "given.yaml", "--from", "ops", "--to", "kubectl"), with("--live", "live.yaml", "--from", "kubectl", "--to", "new")},
		unread: "--live", product: []string{"yaml", "json", "patch", "kubectl"}},
	"schema list":    {calls: [][]string{schemas}},
	"schema show":    {calls: [][]string{with("example.com/v1/Vault")}},
	"schema convert": {calls: [][]string{{"--to", "smd", "crd.yaml"}}},
	"schema diff":    {calls: [][]string{{"crd.yaml", "openapi.json", "--live", "live.yaml"}, {"builtin", "smd.yaml", "--live", "live.yaml"}}},
	"version":        {calls: [][]string{{}}},
	"schema":         {calls: [][]string{{}}},
}

// canaryFlags holds the values to try for each flag that is neither a switch nor a choice.
var canaryFlags = map[string][]string{
	"filename": {"live.yaml"}, "live": {"live.yaml"}, "ignore": {"none.yaml"}, "request-timeout": {"1s"}, "jobs": {"1"},
	"field-manager": {"ops"}, "namespace": {"other"}, "name": {"changed"}, "subresource": {"status", "scale", "none"},
	"force-field": {"data.password", ".spec.tokens", "token"}, "force-manager": {"ops", "nobody"}, "rules": {"rules.yaml"},
	"crd": {"crd.yaml", "given.yaml"}, "openapi": {"openapi.json", "given.yaml"}, "schema": {"smd.yaml --type any", "given.yaml --type any"},
	"type": {"any --schema smd.yaml"}, "until": {"3"}, "manager": {"ops", "nobody"}, "only": {"ops", "kubectl,ops", "conflicting,changed,note,server,refused"}, "not": {"kubectl"},
	"both": {"ops,kubectl"}, "kind": {"Secret", "v1/Secret", "example.com/v1/Vault"}, "ignore-code": {"absent-path"}, "from": {"ops", "nobody"},
	"to": {"new", "smd"}, "path": {".data", ".spec.tokens"}, "depth": {"2"}, "selector": {"a=b", "!a"},
	"kustomize": {"kust", "unbuilt"}, "context": {"none"}, "kubeconfig": {"none.yaml"}, "token": {"none"}, "as": {"none"}, "as-group": {"none"},
	"inventory": {"secret/given"},
	"policy":    {"policy.yaml", "given.yaml"}, "params": {"given.yaml"}, "namespace-object": {"given.yaml"},
	"kubernetes": {"1.31", "1.37"}, "kube-context": {"none"},
	"kube-apiserver": {"none"}, "kube-ca-file": {"none"}, "kube-tls-server-name": {"none"}, "kube-token": {"none"}, "kube-as-user": {"none"},
	"kube-as-group": {"none"}, "kube-insecure-skip-tls-verify": {"true"},
}

// canary matches the values that must not be printed: see testdata/canary.
var canary = regexp.MustCompile(`(?i)hunter2|aHVudGVyM|7\.?31946250817`)

func TestNothingSecretIsShown(t *testing.T) {
	t.Setenv(epochVariable, "1767225600")
	t.Setenv("HELM_BIN", "sh") // its commands are files
	t.Chdir(canaryFiles(t))
	seen := map[string]bool{}
	eachCommand(newCLI(nil, nil, nil).rootCommand(), func(cmd *cobra.Command) {
		if !cmd.Runnable() {
			return
		}
		name := strings.TrimPrefix(cmd.CommandPath(), "deed ")
		c, known := canaryCommands[name]
		seen[name] = true
		if !known {
			t.Errorf("how is deed %s called? Add it to canaryCommands", name)
			return
		}
		t.Run(strings.ReplaceAll(name, " ", "_"), func(t *testing.T) {
			r := canaryRun{T: t, cmd: cmd, name: strings.Fields(name), canaryCommand: c, whole: map[string]bool{}}
			for _, call := range c.calls {
				r.formats(call)
			}
			if c.unread != "" {
				r.formats(replaced(c.calls[0], c.unread, "unread"))
			}
			r.flags()
			for _, format := range c.product {
				if !r.whole[format] && format != formatPatch && format != formatKubectl { // a patch has managed fields only
					t.Errorf("-o %s never shows what objects hold, and is called a product", format)
				}
			}
		})
	})
	for name := range canaryCommands {
		if !seen[name] {
			t.Errorf("there is no command deed %s", name)
		}
	}
}

// replaced returns args with file as the value of flag.
func replaced(args []string, flag, file string) []string {
	out := slices.Clone(args)
	out[slices.Index(out, flag)+1] = file
	return out
}

// canaryFiles returns a new directory with the files of testdata/canary.
func canaryFiles(t *testing.T) string {
	t.Helper()
	archive, err := txtar.ParseFile("testdata/canary/files.txtar")
	if err != nil {
		archive, err = txtar.ParseFile(filepath.Join(canaryRoot, "testdata/canary/files.txtar"))
	}
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, f := range archive.Files {
		name := filepath.Join(dir, f.Name)
		if err := os.MkdirAll(filepath.Dir(name), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, f.Data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

var canaryRoot, _ = os.Getwd()

// canaryRun calls one command.
type canaryRun struct {
	*testing.T
	cmd  *cobra.Command
	name []string
	canaryCommand
	whole map[string]bool // the formats in which the command has shown whole objects
}

// formats calls the command in all its formats. With --show-secrets, the output must have the canary in place of its mask.
func (r canaryRun) formats(call []string) {
	formats := []string{""}
	if output := r.cmd.Flags().Lookup("output"); output != nil {
		formats = r.choices(output)
	}
	for _, format := range formats {
		args := slices.Clone(call)
		if format != "" {
			args = append(args, "-o", format)
		}
		if shown := r.call(args); !strings.Contains(shown, "***") {
			continue
		}
		line := slices.Concat(r.name, args, []string{"--show-secrets"})
		out, err := r.run(line)
		if !canary.MatchString(out + err) {
			r.Errorf("%v does not show what it has\n%s%s", line, out, err)
		}
		if mask := regexp.MustCompile(`.*\*\*\*.*`).FindString(out + err); mask != "" {
			r.Errorf("%v masks %s", line, mask)
		}
	}
}

func (r canaryRun) choices(f *pflag.Flag) []string {
	c, ok := f.Value.(*choice)
	if !ok {
		r.Errorf("--%s is no choice", f.Name)
		return nil
	}
	return c.allowed
}

// flags calls the command with each of its flags, and completes each flag.
func (r canaryRun) flags() {
	r.cmd.Flags().VisitAll(func(f *pflag.Flag) {
		values := canaryFlags[f.Name]
		switch f.Value.(type) {
		case *choice:
			values = r.choices(f)
		default:
			if f.Value.Type() == "bool" || f.NoOptDefVal != "" {
				values = []string{"true", "false"}
			}
		}
		if len(values) == 0 {
			r.Errorf("what is tried of --%s? Add it to canaryFlags", f.Name)
		}
		for _, value := range values {
			first, rest, _ := strings.Cut(value, " ")
			r.call(slices.Concat(r.calls[0], []string{"--" + f.Name + "=" + first}, strings.Fields(rest)))
		}
		if f.Value.Type() != "bool" {
			r.complete("--"+f.Name, "")
		}
	})
	if r.unread != "" {
		for _, begin := range []string{"", ".", ".spec", ".spec.", ".spec.users", ".spec.users[", ".data", ".data["} {
			r.complete(begin)
		}
	}
}

// complete completes the last of args.
func (r canaryRun) complete(args ...string) {
	line := slices.Concat([]string{"__complete"}, r.name)
	if r.unread != "" {
		line = append(line, "-f", "live.yaml", "-f", "crd.yaml")
	}
	r.look(append(line, args...), false)
}

// call calls the command, looks for the canary, and returns the output.
func (r canaryRun) call(args []string) string {
	if slices.Contains(args, "--write=true") {
		r.Chdir(canaryFiles(r.T))
		defer r.Chdir(canaryFiles(r.T))
	}
	format := r.formatOf(args)
	stdout, stderr := r.look(slices.Concat(r.name, args), slices.Contains(r.product, format))
	r.whole[format] = r.whole[format] || canary.MatchString(stdout)
	return stdout + stderr
}

// formatOf returns the output format that args select.
func (r canaryRun) formatOf(args []string) string {
	format := ""
	if f := r.cmd.Flags().Lookup("output"); f != nil {
		format = f.DefValue
	}
	for i, arg := range args {
		if name, found := strings.CutPrefix(arg, "--output="); found {
			format = name
		} else if arg == "-o" {
			format = args[i+1]
		}
	}
	return format
}

// look runs the command line and looks for the canary in the whole output, or only in standard error if the command prints objects.
func (r canaryRun) look(line []string, isProduct bool) (stdout, stderr string) {
	stdout, stderr = r.run(line)
	if slices.ContainsFunc(line, func(s string) bool { return s == "--show-secrets=true" }) {
		return stdout, stderr
	}
	shown := stderr
	if !isProduct {
		shown += stdout
	}
	for text := range strings.Lines(shown) {
		if canary.MatchString(text) {
			r.Errorf("deed %s shows %s", strings.Join(line, " "), text)
		}
	}
	return stdout, stderr
}

func (r canaryRun) run(line []string) (stdout, stderr string) {
	var out, err bytes.Buffer
	if code := RunWith(validating, line, strings.NewReader(""), &out, &err); code == 3 {
		r.Errorf("deed %s failed: %s", strings.Join(line, " "), fmt.Sprint(err.String()))
	}
	return out.String(), err.String()
}
