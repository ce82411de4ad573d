package openapi

import (
	"fmt"
	"slices"
)

// checkUnions returns an error if the unions of an object are malformed. Unions are a list of
//
//	{discriminator: FIELD, fields-to-discriminateBy: {FIELD: VALUE, …}}
//
// in which no field has two places, and no value stands for two fields of a union. Unions have no effect on the conversion.
func checkUnions(ext map[string]any) error {
	declared, ok := ext["x-kubernetes-unions"]
	if !ok {
		return nil
	}
	unions, ok := declared.([]any)
	if !ok {
		return fmt.Errorf("unions: expected a list, got %v", declared)
	}
	var fields []string
	for _, union := range unions {
		object, ok := union.(map[any]any)
		if !ok {
			return fmt.Errorf("unions: expected objects, got %v", union)
		}
		own, err := unionFields(object)
		if err != nil {
			return err
		}
		fields = append(fields, own...)
	}
	if name, ok := firstRepeated(fields); ok {
		return fmt.Errorf("unions: field %q is in several places", name)
	}
	return nil
}

// unionFields returns the discriminator of a union, and the fields that it selects.
func unionFields(union map[any]any) ([]string, error) {
	var fields []string
	if declared, ok := union["discriminator"]; ok {
		name, ok := declared.(string)
		if !ok {
			return nil, fmt.Errorf("unions: expected the name of the discriminator, got %v", declared)
		}
		fields = append(fields, name)
	}
	declared, ok := union["fields-to-discriminateBy"]
	if !ok {
		return fields, nil
	}
	byField, ok := declared.(map[any]any)
	if !ok {
		return nil, fmt.Errorf("unions: expected fields to discriminate by, got %v", declared)
	}
	own, err := discriminated(byField)
	return append(fields, own...), err
}

// discriminated returns the fields of a union, sorted.
func discriminated(byField map[any]any) ([]string, error) {
	var fields []string
	values := map[string]string{}
	for key := range byField {
		name, ok := key.(string)
		if !ok {
			return nil, fmt.Errorf("unions: expected the name of a field, got %v", key)
		}
		fields = append(fields, name)
	}
	slices.Sort(fields)
	for _, name := range fields {
		word, ok := byField[name].(string)
		if !ok {
			return nil, fmt.Errorf("unions: expected what the field %q is discriminated by, got %v", name, byField[name])
		}
		if other, taken := values[word]; taken {
			return nil, fmt.Errorf("unions: the fields %q and %q are both discriminated by %q", other, name, word)
		}
		values[word] = name
	}
	return fields, nil
}

func firstRepeated(names []string) (string, bool) {
	for i, name := range names {
		if slices.Index(names, name) < i {
			return name, true
		}
	}
	return "", false
}
