package admission

import "context"

// Plugin is asked about every write, twice. An error refuses the request; a *errors.StatusError of k8s.io/apimachinery is its
// answer. Plugins are comparable, and safe for concurrent use.
type Plugin interface {
	// Mutate may replace r.Object. It is called before the object is prepared and validated, and again for every attempt of a
	// write that others are faster than.
	Mutate(ctx context.Context, r *Request) error
	// Validate is called with the object as it is to be stored, and must not change r.
	Validate(ctx context.Context, r *Request) error
}

// Chain is a list of plugins. The zero Chain admits everything as it is.
type Chain []Plugin

// Mutate asks each plugin in turn, and all of them once more if one asked for it; see [Request.Again].
func (c Chain) Mutate(ctx context.Context, r *Request) error {
	if err := c.mutate(ctx, r); err != nil || !r.again {
		return err
	}
	r.pass = 1
	return c.mutate(ctx, r)
}

func (c Chain) mutate(ctx context.Context, r *Request) error {
	for _, p := range c {
		if err := p.Mutate(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Validate asks each plugin in turn.
func (c Chain) Validate(ctx context.Context, r *Request) error {
	for _, p := range c {
		if err := p.Validate(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Mutate returns a plugin that mutates by f, and lets every object pass.
func Mutate(f func(ctx context.Context, r *Request) error) Plugin { return &functions{mutate: f} }

// Validate returns a plugin that validates by f, and changes nothing.
func Validate(f func(ctx context.Context, r *Request) error) Plugin { return &functions{validate: f} }

type functions struct {
	mutate, validate func(ctx context.Context, r *Request) error
}

// Mutate calls the function, if there is one.
func (p *functions) Mutate(ctx context.Context, r *Request) error {
	if p.mutate == nil {
		return nil
	}
	return p.mutate(ctx, r)
}

// Validate calls the function, if there is one.
func (p *functions) Validate(ctx context.Context, r *Request) error {
	if p.validate == nil {
		return nil
	}
	return p.validate(ctx, r)
}
