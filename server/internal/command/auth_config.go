package command

import (
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/util/sets"
	"k8s.io/apiserver/pkg/apis/apiserver"
	"k8s.io/apiserver/pkg/apis/apiserver/validation"
	authenticationcel "k8s.io/apiserver/pkg/authentication/cel"
	authorizationcel "k8s.io/apiserver/pkg/authorization/cel"
)

// readAuthenticators takes from the file of --authentication-config, an AuthenticationConfiguration of apiserver.config.k8s.io, which requests need
// no credentials.
func (o *options) readAuthenticators() error {
	if o.authenticators == "" {
		return nil
	}
	config, err := decodeFile[*apiserver.AuthenticationConfiguration](o.authenticators)
	if err != nil {
		return fmt.Errorf("--authentication-config: %w", err)
	}
	faults := validation.ValidateAuthenticationConfiguration(authenticationcel.NewDefaultCompiler(), config, nil)
	if err := faults.ToAggregate(); err != nil {
		return fmt.Errorf("--authentication-config: %s: %w", o.authenticators, err)
	}
	o.issuers = len(config.JWT)
	if config.Anonymous == nil {
		return nil
	}
	if o.flags.Changed("anonymous-auth") {
		return fmt.Errorf("--anonymous-auth and the member anonymous of %s exclude each other", o.authenticators)
	}
	o.anonymous = config.Anonymous.Enabled && len(config.Anonymous.Conditions) == 0
	for _, c := range config.Anonymous.Conditions {
		o.anonymousPaths = append(o.anonymousPaths, c.Path)
	}
	return nil
}

// readAuthorizers takes the modes of authorization from the file of --authorization-config, an AuthorizationConfiguration of
// apiserver.config.k8s.io. A webhook in it is an error: to pass over a webhook would allow what it denies.
func (o *options) readAuthorizers() error {
	if o.authorizers == "" {
		return nil
	}
	if len(o.modes) > 0 || o.flags.Changed("authorization") {
		return errors.New("--authorization-config excludes --authorization-mode and --authorization")
	}
	config, err := decodeFile[*apiserver.AuthorizationConfiguration](o.authorizers)
	if err != nil {
		return fmt.Errorf("--authorization-config: %w", err)
	}
	webhook := string(apiserver.TypeWebhook)
	known, repeatable := sets.New(authorizationModes...).Insert(webhook), sets.New(webhook)
	faults := validation.ValidateAuthorizationConfiguration(authorizationcel.NewDefaultCompiler(), nil, config, known, repeatable)
	if err := faults.ToAggregate(); err != nil {
		return fmt.Errorf("--authorization-config: %s: %w", o.authorizers, err)
	}
	for i, a := range config.Authorizers {
		if a.Type == apiserver.TypeWebhook {
			return fmt.Errorf("--authorization-config: %s: authorizers[%d]: deed-apiserver asks no webhook whether a request is allowed", o.authorizers, i)
		}
		o.modes = append(o.modes, string(a.Type))
	}
	return nil
}
