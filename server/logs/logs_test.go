package logs

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"log/slog"
	"net"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"syscall"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	kschema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

const secret = "hunter2"

// loggable is a Loggable with a fixed log text.
type loggable struct{ error }

func (loggable) LogText() string { return "loggable" }

// TestText checks the log text of each kind of error. It must not contain what the error may quote.
func TestText(t *testing.T) {
	for _, c := range []struct {
		err  error
		want string
	}{
		{nil, "none"},
		{NewError("always the same"), "always the same"},
		{loggable{errors.New(secret)}, "loggable"},
		{fmt.Errorf(secret+": %w", loggable{errors.New(secret)}), "loggable"},
		{errors.New(secret), "a *errors.errorString, whose text may quote an object"},
		{fmt.Errorf("of %s: %w", secret, context.DeadlineExceeded), "context deadline exceeded"},
		{errors.Join(errors.New(secret), context.Canceled), "a *errors.errorString, whose text may quote an object; context canceled"},
		{&fs.PathError{Op: "open", Path: "a", Err: syscall.ENOENT}, "open a: no such file or directory"},
		{&url.Error{Op: "Post", URL: "https://" + secret + "@a?token=" + secret, Err: errors.New(secret)},
			"Post: a *errors.errorString, whose text may quote an object"},
		{&url.Error{Op: "Post", URL: "https://" + secret, Err: &net.OpError{Op: "dial", Net: "tcp", Err: syscall.ECONNREFUSED}},
			"Post: dial tcp: connection refused"},
		{apierrors.NewConflict(kschema.GroupResource{Resource: "secrets"}, secret, errors.New(secret)), "status 409 Conflict"},
		{field.Invalid(field.NewPath("data").Key(secret), secret, secret), "data: Invalid value"},
		{field.ErrorList{field.Required(field.NewPath("a"), secret), field.Invalid(field.NewPath("b"), secret, secret)}.ToAggregate(),
			"a: Required value; b: Invalid value"},
	} {
		if got := Text(c.err); got != c.want || strings.Contains(got, secret) {
			t.Errorf("%v: %q, want %q", c.err, got, c.want)
		}
	}
}

// written returns the output of write at every level.
func written(write func(Logger)) string {
	var out bytes.Buffer
	write(New(slog.New(slog.NewTextHandler(&out, &slog.HandlerOptions{
		Level: slog.LevelDebug,
		ReplaceAttr: func(_ []string, a slog.Attr) slog.Attr {
			if a.Key == slog.TimeKey {
				return slog.Attr{}
			}
			return a
		},
	}))))
	return out.String()
}

// TestPanics checks that the log has the text of runtime errors, and only the type of other values.
func TestPanics(t *testing.T) {
	caught := func(f func()) (v any) {
		defer func() { v = recover() }()
		f()
		return nil
	}
	var list []int
	var of any = secret
	for _, c := range []struct {
		v    any
		want string
	}{
		{secret, "string"}, {errors.New(secret), "*errors.errorString"}, {fmt.Errorf("%s: %w", secret, context.Canceled), "*fmt.wrapError"},
		{caught(func() { _ = list[7] }), "runtime error: index out of range [7] with length 0"},
		{caught(func() { _ = of.(int) }), "interface conversion: interface {} is string, not int"},
	} {
		got := written(func(l Logger) { l.Error("it panicked", Panic(c.v)) })
		if !strings.Contains(got, c.want) || strings.Contains(got, secret) || !strings.Contains(got, `level=ERROR msg="it panicked" panic=`) {
			t.Errorf("%v: %s, want %s", c.v, got, c.want)
		}
	}
	if got := written(func(l Logger) { l.Warn("here", Stack(), Name("name", "n"), Path("/p"), Code(7)) }); !strings.Contains(got, "TestPanics") ||
		!strings.Contains(got, "name=n path=/p code=7") {
		t.Error(got)
	}
}

// TestHTTP checks that only the part of a net/http line that quotes no client is kept.
func TestHTTP(t *testing.T) {
	for line, want := range map[string]string{
		"http: TLS handshake error from 1.2.3.4:5: remote error: tls: bad certificate": "http: TLS handshake error from 1.2.3.4:5: remote error: tls: bad certificate",
		"http: Accept error: too many open files; retrying":                            "http: Accept error: too many open files; retrying",
		"http: panic serving 1.2.3.4:5: " + secret + "\nstack " + secret:               "http: panic serving …",
		`http2: server: error reading preface from client a: bogus "` + secret + `"`:   "http2: server: error …",
		"http: response.WriteHeader on hijacked connection":                            "http: response.WriteHeader on …",
		"whatever": "whatever",
	} {
		got := written(func(l Logger) { l.HTTP().Print(line) })
		if want := fmt.Sprintf("level=DEBUG msg=%q what=%q\n", "net/http reports", want); strings.ReplaceAll(got, "what=whatever", `what="whatever"`) != want {
			t.Errorf("%q is logged as %q, want %q", line, got, want)
		}
	}
}

// TestSilence checks that the zero Logger accepts every call.
func TestSilence(t *testing.T) {
	l := Logger{}
	l.Error("a")
	l.Info("a")
	l.HTTP().Print("a")
	if l.Debugs(t.Context()) {
		t.Error("the zero Logger writes")
	}
}

// TestNothingElseLogs checks that no other package of the server writes a log or to a standard stream. The exceptions make log handlers, or
// write the output of a command.
func TestNothingElseLogs(t *testing.T) {
	allowed := map[string]string{
		"./admission":           "log/slog", // it hides values
		".":                     "log/slog", // it has Config.Log
		"./apitest":             "log log/slog",
		"./internal/command":    "log/slog",
		"./hookclient":          "k8s.io/klog/v2",                // it silences klog
		"./internal/servertest": "log/slog",                      // it discards the log
		"./metrics":             "k8s.io/component-base/metrics", // it counts for a library, and knows no request
	}
	out, err := exec.Command("go", "list", "-f", `{{.ImportPath}} {{join .Imports " "}}`, "../...").Output()
	if err != nil {
		t.Fatal(err)
	}
	logging := regexp.MustCompile(`^(log|log/slog|log/syslog|runtime/trace|expvar|k8s\.io/klog/.*|k8s\.io/component-base/.*|github\.com/go-logr/.*|go\.opentelemetry\.io/.*)$`)
	seen := 0
	for line := range strings.Lines(string(out)) {
		words := strings.Fields(line)
		name := "." + strings.TrimPrefix(words[0], "github.com/deed-project/deed/server")
		if name == "./logs" {
			continue
		}
		seen++
		for _, imported := range words[1:] {
			if logging.MatchString(imported) && !strings.Contains(" "+allowed[name]+" ", " "+imported+" ") {
				t.Errorf("%s imports %s: package logs writes the log", name, imported)
			}
		}
	}
	if seen < 20 {
		t.Errorf("only %d packages were looked at", seen)
	}
	calls := regexp.MustCompile(`\b(slog|log|klog)\.(Debug|Info|Warn|Error|Log|(Print|Fatal|Panic)\w*|V|Default\(\)\.\w+)(Context)?\(|\.Log\.[A-Z]\w*\(|\bfmt\.Print|os\.Std(out|err)\.`)
	err = filepath.WalkDir("..", func(name string, d fs.DirEntry, err error) error {
		if name == "../hostile/attack" { // not part of the server, but a client program
			return fs.SkipDir
		}
		if err != nil || d.IsDir() || !strings.HasSuffix(name, ".go") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "../logs/") {
			return err
		}
		text, err := os.ReadFile(name)
		for i, line := range strings.Split(string(text), "\n") {
			found := calls.FindString(line)
			isLogger := strings.HasPrefix(found, ".Log.") && allowed["."+strings.TrimPrefix(filepath.Dir(name), "..")] == "" // without slog, Log is a Logger
			if allowed := found == "log.Error(" || found == "log.Warn(" || found == "log.Info(" || found == "log.Debug("; found != "" && !allowed && !isLogger {
				t.Errorf("only package logs writes the log: %s:%d: %s", name, i+1, line)
			}
		}
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
}
