package cli

import (
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/deed-project/deed/cmd/internal/finding"
	"github.com/deed-project/deed/cmd/internal/jobs"
	"github.com/deed-project/deed/cmd/internal/manifest"
	"github.com/deed-project/deed/cmd/internal/notice"
	"github.com/deed-project/deed/cmd/internal/policytest"
	"github.com/deed-project/deed/cmd/internal/report"
	"github.com/deed-project/deed/cmd/internal/secret"
)

func (c *cli) policyCommand() *cobra.Command {
	cmd := &cobra.Command{
		Use:   "policy",
		Short: "Test admission policies in CEL",
		Long: `Test admission policies in CEL: ValidatingAdmissionPolicies and
MutatingAdmissionPolicies, without a cluster.`,
		Example: `  # Do the policies decide as expected?
  deed policy test policy-tests.yaml`,
		Args: noArguments,
		RunE: func(cmd *cobra.Command, _ []string) error { return cmd.Help() },
	}
	cmd.AddCommand(c.policyTestCommand())
	return cmd
}

// policyTestFlags holds the flags of deed policy test.
type policyTestFlags struct {
	input  inputFlags
	format choice
	color  colorFlags
}

func (c *cli) policyTestCommand() *cobra.Command {
	var f policyTestFlags
	cmd := &cobra.Command{
		Use:   "test [-f] FILE...",
		Short: "Run tests of admission policies",
		Long: `Run tests of admission policies. A file names policies with their bindings, and
has cases: requests, each with what is expected of it.

  policies: [policy.yaml]            files and directories, relative to this file
  params: [params.yaml]              the parameters of policies
  namespaces: [namespaces.yaml]      namespaces with their labels
  crds: [crds]                       definitions of custom resources
  cases:
  - name: too many replicas
    object: web.yaml                 a file, or the object itself
    old: live.yaml                   makes the request an update
    operation: DELETE                if it is neither CREATE nor UPDATE
    user: {name: jane, groups: [dev]}
    expect: denied                   or allowed
    message: at most 5               a part of the message of a denied request
    warnings: [deprecated]           a part of each warning
    mutated: {spec: {replicas: 3}}   a part of the object that is stored

Each case has a server of its own. A request is also denied if the object is
invalid, as in a cluster.`,
		Example: `  # Do the policies decide as expected?
  deed policy test policy-tests.yaml
  deed policy test tests/*.yaml -o junit`,
		RunE: func(*cobra.Command, []string) error { return c.policyTest(f) },
	}
	takeFiles(cmd)
	flags := cmd.Flags()
	flags.SortFlags = false
	f.input.registerFor(flags, "tests")
	f.format = choice{report.FormatText, []string{report.FormatText, report.FormatJSON, report.FormatJUnit}}
	flags.VarP(&f.format, "output", "o", "output format")
	f.color.register(flags)
	return cmd
}

// policyTest runs deed policy test.
func (c *cli) policyTest(f policyTestFlags) error {
	names, err := c.inputs(f.input)
	if err == nil {
		err = checkStdin(names)
	}
	if err != nil {
		return err
	}
	if c.newServer == nil {
		return c.delegate()
	}
	p := report.NewCasePrinter(c.out, f.format.value, f.color.painter(c.out))
	for _, t := range c.read(names, f.input) {
		suite := policytest.Read(c.Loader, t, func(name string) string {
			if filepath.IsAbs(name) {
				return name
			}
			return filepath.Join(filepath.Dir(t.Name), name)
		})
		if suite == nil {
			continue
		}
		if err := c.policySuite(suite, p); err != nil {
			return c.end(err)
		}
	}
	return c.end(p.Close(c.Notices))
}

// policySuite runs the cases of a suite.
func (c *cli) policySuite(s *policytest.Suite, p *report.CasePrinter) error {
	now, err := clock()
	if err != nil {
		return err
	}
	before := c.Problems
	definitions, _ := c.DefinedBy(s.Definitions)
	shared := finding.ServerConfig{
		Now: now, Definitions: definitions, Policies: c.policies(s.Policies), Params: c.Objects(c.Read(s.Params, true)), Namespaces: c.Objects(c.Read(s.Namespaces, true)),
	}
	if c.Problems > before {
		return nil
	}
	cases := func(yield func(*policytest.Case) bool) {
		for _, k := range s.Cases {
			if !yield(k) {
				return
			}
		}
	}
	type outcome struct {
		faults  []string
		refused []notice.Notice
		err     error
	}
	for k, x := range jobs.Map(c.Jobs, cases, func(k *policytest.Case) (x outcome) {
		config := shared
		config.Refused = func(o *manifest.Object, err error) {
			x.refused = append(x.refused, notice.Notice{Class: notice.Refused, Where: o.At(), Subject: o.String(), Text: o.View().Error(err)})
		}
		for _, o := range []*manifest.Object{k.Request.Object, k.Request.Old} {
			if o != nil && o.Id.Namespace != "" {
				config.In = append(config.In, o.Id.Namespace)
			}
		}
		if k.Request.Old != nil {
			config.Live = []*manifest.Object{k.Request.Old}
		}
		server, err := c.newServer(config)
		if x.err = err; err != nil {
			return x
		}
		defer func() { _ = server.Close() }() // the store is in memory
		d, err := server.Decide(k.Request)
		if x.err = err; err == nil {
			x.faults = k.Judge(d)
		}
		return x
	}) {
		for _, n := range x.refused {
			if c.Problems == before {
				c.Report(n)
			}
		}
		if x.err != nil {
			c.Problem(k.Where, "%s: %s", k.Name, secret.Open.Error(x.err))
			continue
		}
		if len(x.faults) > 0 {
			c.Raise(notice.ExitFinding)
		}
		p.Print(s.Name, report.CaseResult{Name: k.Name, Where: k.Where, Faults: x.faults})
	}
	return nil
}

// policies returns the policies and bindings in files. It warns of policies without a binding, which have no effect.
func (c *cli) policies(names []string) []*manifest.Object {
	all := c.Objects(c.Read(names, true))
	type binding struct{ kind, policy string }
	bound := map[binding]bool{}
	for _, o := range all {
		bound[binding{o.Id.Kind, o.Content.Get("spec", "policyName").Str()}] = true
	}
	for _, o := range all {
		if isPolicy[o.Id.Kind] && !bound[binding{o.Id.Kind + "Binding", o.Id.Name}] {
			c.Warn(o.At(), "%v has no binding among the files of policies, and so no effect", o)
		}
	}
	return all
}

// isPolicy has the kinds of policies.
var isPolicy = map[string]bool{"ValidatingAdmissionPolicy": true, "MutatingAdmissionPolicy": true}
