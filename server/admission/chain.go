package admission

import "context"

// Plugin takes part in every write, in two phases. An error refuses the request; a *errors.StatusError of k8s.io/apimachinery becomes the
// answer. Plugins are comparable, because a request keeps their state in a map, and safe for concurrent use.
type Plugin interface {
	// Mutate may replace r.Object. The server calls it before it prepares and validates the object, and again for each retry of a write
	// that lost a race.
	Mutate(ctx context.Context, r *Request) error
	// Validate gets the object as the store will hold it, and must not change r.
	Validate(ctx context.Context, r *Request) error
}

// Chain is a list of plugins. The zero Chain admits every object unchanged.
type Chain []Plugin

// Mutate calls the plugins in order. If a plugin asked for a second pass, Mutate calls all of them once more; see [Request.Again].
func (c Chain) Mutate(ctx context.Context, r *Request) error {
	if err := c.mutate(ctx, r); err != nil || !r.again {
		return err
	}
	r.pass, r.patched = 1, false
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

// Validate calls the plugins in order.
func (c Chain) Validate(ctx context.Context, r *Request) error {
	for _, p := range c {
		if err := p.Validate(ctx, r); err != nil {
			return err
		}
	}
	return nil
}

// Mutate returns a plugin that mutates objects with f and admits every object.
func Mutate(f func(ctx context.Context, r *Request) error) Plugin { return &functions{mutate: f} }

// Validate returns a plugin that validates objects with f and changes nothing.
func Validate(f func(ctx context.Context, r *Request) error) Plugin { return &functions{validate: f} }

// functions is a Plugin made of functions. Either function may be nil.
type functions struct {
	mutate, validate func(ctx context.Context, r *Request) error
}

// Mutate calls p.mutate if it is set.
func (p *functions) Mutate(ctx context.Context, r *Request) error {
	if p.mutate == nil {
		return nil
	}
	return p.mutate(ctx, r)
}

// Validate calls p.validate if it is set.
func (p *functions) Validate(ctx context.Context, r *Request) error {
	if p.validate == nil {
		return nil
	}
	return p.validate(ctx, r)
}
