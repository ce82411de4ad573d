package command

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/spf13/pflag"
	"k8s.io/apimachinery/pkg/util/version"

	"github.com/deed-project/deed/server"
	"github.com/deed-project/deed/server/auth"
	"github.com/deed-project/deed/server/filters"
	"github.com/deed-project/deed/server/logs"
	"github.com/deed-project/deed/server/manifest"
	"github.com/deed-project/deed/server/store/file"
)

// serve makes the server that the flags describe, and serves until ctx is done.
func (o *options) serve(ctx context.Context, out, errOut io.Writer) (err error) {
	config := server.Config{Log: o.logger(errOut), CBOR: o.cbor, EventTTL: o.eventTTL, MaxObject: o.maxObject, Hosts: []string{o.host}}
	config.EnableAdmissionPlugins, config.DisableAdmissionPlugins = o.enable, o.disable
	config.PriorityAndFairness, config.Limits = o.fairness, o.inFlight()
	config.Unprivileged = !o.privileged
	config.Controllers, config.Flags = o.controllers, map[string]string{}
	o.flags.VisitAll(func(f *pflag.Flag) { config.Flags[f.Name] = f.Value.String() })
	objects, err := o.objects()
	if err != nil {
		return err
	}
	if o.issuers > 0 {
		fmt.Fprintf(errOut, "%s: jwt has no effect: tokens of other issuers are refused\n", o.authenticators)
	}
	if config.EmulatedVersion, err = emulatedVersion(o.emulated); err != nil {
		return err
	}
	if config.RuntimeConfig, err = runtimeConfig(o.runtimeConfig); err != nil {
		return err
	}
	config.Objects = manifest.Values(objects)
	if err := o.configurePlugins(&config, errOut); err != nil {
		return err
	}
	if config.Webhooks, err = o.webhooks(); err != nil {
		return err
	}
	recorder, end, err := o.audit.recorder(out, errOut)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, end()) }()
	config.AuditLog = recorder
	if err := o.openStore(ctx, &config); err != nil {
		return err
	}
	if config.Store != nil {
		defer func() { err = errors.Join(err, config.Store.Close()) }()
	}
	token, err := o.access(&config)
	if err != nil {
		return err
	}
	tlsConfig, trusted, err := o.tls.config(o.host, logs.New(config.Log))
	if err == nil {
		err = o.identify(&config, trusted)
	}
	if err != nil {
		return err
	}
	if tlsConfig != nil {
		config.Certificates.AskIn(tlsConfig)
	}
	l, err := net.Listen("tcp", o.listen)
	if err != nil {
		return err
	}
	if config.Services, err = o.services(l.Addr().String()); err != nil {
		return errors.Join(err, l.Close())
	}
	s, err := server.New(config)
	if err != nil {
		var of *server.ObjectError
		if errors.As(err, &of) {
			err = fmt.Errorf("%s: %w", objects[of.Index].Where(), err)
		}
		return errors.Join(err, l.Close())
	}
	defer func() { err = errors.Join(err, s.Close()) }()
	if err := o.announce(out, s, l.Addr().String(), trusted, token); err != nil {
		return errors.Join(err, l.Close())
	}
	if o.ready != nil {
		o.ready(Place{l.Addr().String(), trusted})
	}
	var rehearsal sync.WaitGroup
	defer rehearsal.Wait()
	if len(config.Objects) == 0 {
		rehearsal.Go(func() {
			if err := rehearse(); err != nil {
				logs.New(config.Log).Error("the first definition takes longer than it should", logs.Fault(err))
			}
		})
	}
	asked := ctx
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() {
		select {
		case <-o.lost:
			cancel(fmt.Errorf("%s was removed, replaced or cut: objects cannot be kept any more", o.dataName()))
		case <-ctx.Done():
		}
	}()
	err = s.Serve(ctx, l, tlsConfig)
	if asked.Err() == nil {
		err = errors.Join(context.Cause(ctx), err)
	}
	return err
}

// emulatedVersion returns the release that --emulated-version names. The values are those of kube-apiserver: a minor release, with the
// component kube in front of it or none.
func emulatedVersion(values []string) (string, error) {
	out := ""
	for _, text := range values {
		component, release, named := strings.Cut(text, "=")
		if !named {
			component, release = kube, component
		}
		component, release = strings.TrimSpace(component), strings.TrimSpace(release)
		switch parsed, err := version.Parse(release); {
		case err != nil:
			return "", fmt.Errorf("--emulated-version: %w", err)
		case parsed.Patch() != 0:
			return "", fmt.Errorf("--emulated-version: patch version not allowed, got: %s=%s", component, parsed)
		case component != kube:
			return "", fmt.Errorf("--emulated-version: component not registered: %s", component)
		case out != "":
			return "", fmt.Errorf("--emulated-version: duplicate version flag, kube=%s and kube=%s", out, parsed)
		default:
			out = fmt.Sprintf("%d.%d", parsed.Major(), parsed.Minor())
		}
	}
	return out, nil
}

// runtimeConfig returns what --runtime-config says, by its keys. A key without a value is on.
func runtimeConfig(pairs []string) (map[string]bool, error) {
	out := map[string]bool{}
	for _, pair := range pairs {
		key, text, set := strings.Cut(strings.TrimSpace(pair), "=")
		on, err := strconv.ParseBool(strings.TrimSpace(text))
		if set && err != nil {
			return nil, fmt.Errorf("--runtime-config: invalid value of %s: %s", key, text)
		}
		out[strings.TrimSpace(key)] = on || !set
	}
	return out, nil
}

// kube is the component that --emulated-version means.
const kube = "kube"

// objects returns what the server begins with: definitions come first.
func (o *options) objects() ([]manifest.Object, error) {
	definitions, err := manifest.Reader{}.Definitions(o.crds...)
	if err != nil {
		return nil, err
	}
	rest, err := manifest.Reader{}.Read(o.load...)
	return append(definitions, rest...), err
}

// openStore opens the store that the flags name, if they name one.
func (o *options) openStore(ctx context.Context, c *server.Config) error {
	switch {
	case o.data != "":
		kept, err := file.Open(o.data)
		if err != nil {
			return fmt.Errorf("--data: %w", err)
		}
		c.Store = kept
	case len(o.etcd.servers) > 0:
		if err := o.etcd.open(ctx, c); err != nil {
			return err
		}
	}
	if kept, ok := c.Store.(*file.Store); ok {
		o.lost = kept.Lost()
	}
	return nil
}

// inFlight returns the limits of requests in flight. With priority and fairness, only their sum counts. Without it, 0 is no limit.
func (o *options) inFlight() filters.Limits {
	l := o.limits
	if o.fairness {
		return filters.Limits{Reading: l.Reading + l.Writing - 1, Writing: 1} // a zero would be the default
	}
	for _, n := range []*int{&l.Reading, &l.Writing} {
		if *n == 0 {
			*n = math.MaxInt
		}
	}
	return l
}

// dataName returns the name of the file that keeps the objects, if one does.
func (o *options) dataName() string { return cmp.Or(o.data, o.etcd.file) }

func (o *options) logger(w io.Writer) *slog.Logger {
	h := &slog.HandlerOptions{Level: slog.LevelInfo}
	if o.verbose {
		h.Level = slog.LevelDebug
	}
	if o.logFormat == "json" {
		return slog.New(slog.NewJSONHandler(w, h))
	}
	return slog.New(slog.NewTextHandler(w, h))
}

// access says who may do what, and returns a token of an administrator, made for this run.
func (o *options) access(c *server.Config) (string, error) {
	tokens := &auth.Tokens{}
	if o.tokenFile != "" {
		f, err := os.Open(o.tokenFile)
		if err != nil {
			return "", err
		}
		defer f.Close() // it was only read
		if tokens, err = auth.ReadTokens(f); err != nil {
			return "", fmt.Errorf("%s: %w", o.tokenFile, err)
		}
	}
	token := auth.NewToken()
	tokens.Add(token, auth.User{Name: "deed-admin", Groups: []string{"system:masters"}})
	c.Authenticate = tokens.Authenticate
	if !o.anonymous {
		c.Authenticate = auth.RefuseAnonymous(c.Authenticate, o.anonymousPaths...)
	}
	if len(o.modes) > 0 {
		return token, o.authorizeByMode(c)
	}
	switch o.authorization {
	case "allow":
	case "deny-anonymous":
		c.Authorize = auth.DenyAnonymous
	default:
		f, err := os.Open(o.authorization)
		if err != nil {
			return "", err
		}
		defer f.Close() // it was only read
		policy, err := auth.ReadPolicy(f)
		if err != nil {
			return "", fmt.Errorf("%s: %w", o.authorization, err)
		}
		if rule := policy.AllowsAnonymous(); rule != "" && !loopback(o.host) {
			return "", fmt.Errorf("%s is reached by others: %s lets everybody in with %q", o.listen, o.authorization, rule)
		}
		c.Authorize = policy.Authorize
	}
	return token, nil
}

// authorizeByMode sets the authorizers of --authorization-mode. Their order does not matter, since none of them refuses what another
// allows. Beside AlwaysAllow, RBAC still has the roles that a cluster begins with, and every request needs credentials.
func (o *options) authorizeByMode(c *server.Config) error {
	c.RBAC, c.Nodes = slices.Contains(o.modes, "RBAC"), slices.Contains(o.modes, "Node")
	switch {
	case slices.Contains(o.modes, "AlwaysAllow"):
		c.Authenticate = auth.RefuseAnonymous(c.Authenticate)
		if len(o.modes) > 1 { // alone, it is the same as no authorizer
			c.Authorize = auth.Allow
		}
	case slices.Contains(o.modes, "AlwaysDeny"):
		c.Authorize = auth.Deny
	}
	if o.policyFile == "" {
		return nil
	}
	f, err := os.Open(o.policyFile)
	if err != nil {
		return err
	}
	defer f.Close() // it was only read
	if c.ABAC, err = auth.ReadABAC(f); err != nil {
		return fmt.Errorf("%s: %w", o.policyFile, err)
	}
	if c.ABAC.AllowsAnonymous() && !loopback(o.host) {
		return fmt.Errorf("%s is reached by others: %s lets everybody read everything", o.listen, o.policyFile)
	}
	return nil
}

// announce says what is served and how to reach it.
func (o *options) announce(out io.Writer, s *server.Server, address string, trusted []byte, token string) error {
	url := "https://" + address
	if o.tls.off {
		url = "http://" + address
	}
	fmt.Fprintf(out, "Serving %s at %s\n", s.Summary(), url)
	switch {
	case o.dataName() != "":
		fmt.Fprintf(out, "Objects are kept in %s.\n", o.dataName())
	case len(o.etcd.servers) > 0:
		fmt.Fprintf(out, "Objects are kept in %s.\n", &o.etcd)
	default:
		fmt.Fprintln(out, "Objects are kept in memory and are gone when the server ends.")
	}
	if kinds := s.Unenforced(); len(kinds) > 0 {
		fmt.Fprintf(out, "Not enforced, only stored: %s.\n", strings.Join(kinds, ", "))
	}
	if o.kubeconfig == "" {
		fmt.Fprintln(out, "Run with --kubeconfig FILE to get a file that kubectl can use.")
		return nil
	}
	if err := server.WriteKubeconfig(o.kubeconfig, server.Kubeconfig(url, trusted, token), o.merge); err != nil {
		return err
	}
	fmt.Fprintf(out, "Try: kubectl --kubeconfig %s api-resources\n", o.kubeconfig)
	return nil
}
