package envtest

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"k8s.io/client-go/rest"

	"github.com/deed-project/deed/server/internal/command"
)

// ControlPlane is the server of an [Environment].
type ControlPlane struct {
	APIServer *APIServer
	// Etcd has no effect: the server keeps its objects in memory.
	Etcd *Etcd
	// KubectlPath has no effect.
	KubectlPath string

	startTimeout, stopTimeout time.Duration
	users                     *authority // of client certificates
	dir                       string     // for certificates
	run                       *run
}

// APIServer says how the server is to run.
type APIServer struct {
	// SecureServing is where the server listens; a free port of 127.0.0.1 unless it is set.
	SecureServing
	// Out and Err are where the server writes what it says; nil discards it.
	Out, Err io.Writer
	// StartTimeout and StopTimeout have no effect: see Environment.
	StartTimeout, StopTimeout time.Duration
	// Path has no effect: there is no program.
	Path string
	// EtcdURL has no effect: the server keeps its objects in memory.
	EtcdURL *url.URL

	flags *Arguments
}

// SecureServing is where a server listens, and what its clients must trust.
type SecureServing struct {
	ListenAddr
	// CA is set when the server starts: certificates in PEM.
	CA []byte
}

// ListenAddr is an address and a port.
type ListenAddr struct{ Address, Port string }

// HostPort returns the address and the port as one text.
func (l *ListenAddr) HostPort() string { return net.JoinHostPort(l.Address, l.Port) }

// URL returns the URL of a path there.
func (l *ListenAddr) URL(scheme, path string) *url.URL {
	return &url.URL{Scheme: scheme, Host: l.HostPort(), Path: path}
}

// Etcd has no effect. It is there so that suites that set it compile.
type Etcd struct {
	Path, DataDir             string
	URL                       *url.URL
	Out, Err                  io.Writer
	StartTimeout, StopTimeout time.Duration
	flags                     Arguments
}

// Configure returns flags that have no effect.
func (e *Etcd) Configure() *Arguments { return &e.flags }

// Configure returns the flags of the server, which a suite may set until it starts. They are those of kube-apiserver.
func (s *APIServer) Configure() *Arguments {
	if s.flags == nil {
		s.flags = EmptyArguments()
	}
	return s.flags
}

// attach makes the server write to the standard streams of the process, unless the suite has set something else.
func (s *APIServer) attach() {
	if s.Out == nil {
		s.Out = os.Stdout
	}
	if s.Err == nil {
		s.Err = os.Stderr
	}
}

// Arguments are flags by their names without dashes, and what they change in the defaults. The zero Arguments change nothing.
type Arguments struct{ changes map[string]change }

// change is what is to be done to the values of one flag.
type change struct {
	keepsDefault bool
	isFlag       bool // the flag is passed without a value
	values       []string
}

// EmptyArguments returns flags that change nothing.
func EmptyArguments() *Arguments { return &Arguments{} }

func (a *Arguments) change(key string, to change) *Arguments {
	if a.changes == nil {
		a.changes = map[string]change{}
	}
	a.changes[key] = to
	return a
}

// Append adds values to those that a flag has, by default too. It returns a.
func (a *Arguments) Append(key string, values ...string) *Arguments {
	old, found := a.changes[key]
	return a.change(key, change{keepsDefault: !found || old.keepsDefault, values: append(slices.Clone(old.values), values...)})
}

// AppendNoDefaults adds values to those that the suite has set, in the place of defaults. It returns a.
func (a *Arguments) AppendNoDefaults(key string, values ...string) *Arguments {
	return a.change(key, change{values: append(slices.Clone(a.changes[key].values), values...)})
}

// Set sets the values of a flag. It returns a.
func (a *Arguments) Set(key string, values ...string) *Arguments {
	return a.change(key, change{values: slices.Clone(values)})
}

// Enable passes a flag without a value. It returns a.
func (a *Arguments) Enable(key string) *Arguments { return a.change(key, change{isFlag: true}) }

// Disable leaves out a flag. It returns a.
func (a *Arguments) Disable(key string) *Arguments { return a.change(key, change{}) }

// AsStrings returns the flags as a command line, by name: the changes, and the defaults that they do not change.
func (a *Arguments) AsStrings(defaults map[string][]string) []string {
	var line []string
	for _, key := range slices.Sorted(maps.Keys(union(defaults, a.changes))) {
		c, changed := a.changes[key]
		values := c.values
		if !changed || c.keepsDefault {
			values = append(slices.Clone(defaults[key]), values...)
		}
		if c.isFlag {
			line = append(line, "--"+key)
		}
		for _, v := range values {
			line = append(line, "--"+key+"="+v)
		}
	}
	return line
}

// union returns a map with the keys of both maps.
func union[A, B any](a map[string]A, b map[string]B) map[string]bool {
	keys := map[string]bool{}
	for k := range a {
		keys[k] = true
	}
	for k := range b {
		keys[k] = true
	}
	return keys
}

// GetAPIServer returns APIServer, which it makes first if it is nil.
func (c *ControlPlane) GetAPIServer() *APIServer {
	if c.APIServer == nil {
		c.APIServer = &APIServer{}
	}
	return c.APIServer
}

// run is a server that runs in the process.
type run struct {
	cancel context.CancelFunc
	ended  chan struct{}
	err    error // once it has ended
}

// Start starts the server, and returns when it answers. The error is what the server says.
func (c *ControlPlane) Start() error {
	if c.run != nil {
		return errors.New("it runs already")
	}
	if err := c.prepare(); err != nil {
		return err
	}
	s := c.GetAPIServer()
	address := s.SecureServing.Address
	if address == "" {
		address = "127.0.0.1"
	}
	port := s.SecureServing.Port
	if port == "" {
		port = "0"
	}
	line := s.Configure().AsStrings(map[string][]string{
		"service-cluster-ip-range":  {"10.0.0.0/24"},
		"allow-privileged":          {"true"},
		"disable-admission-plugins": {"ServiceAccount"},
		"cert-dir":                  {c.dir},
		"client-ca-file":            {filepath.Join(c.dir, clientCAFile)},
		"authorization-mode":        {"RBAC"},
		"bind-address":              {address},
		"secure-port":               {port},
	})
	ctx, cancel := context.WithCancel(context.Background())
	r := &run{cancel: cancel, ended: make(chan struct{})}
	at := make(chan command.Place, 1)
	var said lines
	go func() {
		defer close(r.ended)
		r.err = command.ServeAsKubeAPIServer(ctx, line, discardNil(s.Out), io.MultiWriter(&said, discardNil(s.Err)), func(p command.Place) { at <- p })
	}()
	c.run = r
	select {
	case p := <-at:
		s.SecureServing.Address, s.SecureServing.Port, _ = net.SplitHostPort(p.Address)
		s.SecureServing.CA = p.CA
		return nil
	case <-r.ended:
		c.run = nil
		return errors.Join(fmt.Errorf("the server ended: %w", r.err), c.clean())
	case <-time.After(orDefault(c.startTimeout)):
		return errors.Join(fmt.Errorf("the server does not answer after %v; it said:\n%s", orDefault(c.startTimeout), said.text()), c.Stop())
	}
}

func orDefault(d time.Duration) time.Duration {
	if d == 0 {
		return defaultTimeout
	}
	return d
}

func discardNil(w io.Writer) io.Writer {
	if w == nil {
		return io.Discard
	}
	return w
}

// lines are what a server says, for a reader at any time.
type lines struct {
	mu sync.Mutex
	b  bytes.Buffer
}

// Write adds text.
func (l *lines) Write(text []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(text)
}

func (l *lines) text() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// clientCAFile is the name of the file with the authority of client certificates.
const clientCAFile = "client-ca.crt"

// prepare makes the folder with certificates.
func (c *ControlPlane) prepare() error {
	if err := c.makeAuthority(); err != nil {
		return err
	}
	var err error
	if c.dir, err = os.MkdirTemp("", "deed-envtest-"); err != nil {
		return err
	}
	return os.WriteFile(filepath.Join(c.dir, clientCAFile), c.users.certificate, 0o600)
}

func (c *ControlPlane) makeAuthority() (err error) {
	if c.users == nil {
		c.users, err = newAuthority()
	}
	return err
}

// clean removes the folder.
func (c *ControlPlane) clean() error {
	dir := c.dir
	c.dir = ""
	return os.RemoveAll(dir) // "" is nothing
}

// Stop ends the server. It may be started again, without its objects. A server that does not run is stopped.
func (c *ControlPlane) Stop() error {
	r := c.run
	if r == nil {
		return nil
	}
	r.cancel()
	select {
	case <-r.ended:
	case <-time.After(orDefault(c.stopTimeout)):
		return fmt.Errorf("the server does not end within %v", orDefault(c.stopTimeout))
	}
	c.run = nil
	return errors.Join(r.err, c.clean())
}

// User is the name and the groups of a user.
type User struct {
	Name   string
	Groups []string
}

// AuthenticatedUser is a user that the server knows.
type AuthenticatedUser struct {
	config *rest.Config
	server *APIServer
}

// AddUser is that of [Environment]. It may be called before the server starts.
func (c *ControlPlane) AddUser(user User, base *rest.Config) (*AuthenticatedUser, error) {
	if err := c.makeAuthority(); err != nil {
		return nil, err
	}
	config := &rest.Config{}
	if base != nil {
		config = rest.CopyConfig(base)
	}
	var err error
	if config.CertData, config.KeyData, err = c.users.client(user); err != nil {
		return nil, fmt.Errorf("user %s: %w", user.Name, err)
	}
	return &AuthenticatedUser{config, c.GetAPIServer()}, nil
}

// Config returns how the user reaches the server. It panics unless the server has started: it is not known before that.
func (u *AuthenticatedUser) Config() *rest.Config {
	if len(u.server.CA) == 0 {
		panic("envtest: Config of a user before the server has started")
	}
	u.config.Host = u.server.URL("https", "/").String()
	u.config.CAData = u.server.CA
	return u.config
}

// KubeConfig returns Config as a kubeconfig file.
func (u *AuthenticatedUser) KubeConfig() ([]byte, error) { return kubeconfigOf(u.Config()) }
