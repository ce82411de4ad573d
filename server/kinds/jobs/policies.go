package jobs

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/server/kinds/walk"
)

// validateFailurePolicy validates what a job does about pods that fail.
func validateFailurePolicy(r *walk.Report, spec, policy walk.Place) {
	rules := policy.At("rules")
	if rules.Len() > 20 {
		r.Add(field.TooMany(rules.Path(), rules.Len(), 20))
	}
	// Exit codes may be about containers and init containers, not about ephemeral ones.
	var containers walk.Names
	for _, list := range [...]string{"containers", "initContainers"} {
		for c := range spec.Get("template", "spec", list).Items() {
			containers.Add(c.Get("name").Str())
		}
	}
	for i := range rules.Indexes() {
		rule := rules.Index(i)
		switch action := rule.At("action"); action.Str() {
		case "":
			r.Required(action, `valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`)
		case "FailIndex":
			if !walk.IsSet(spec.Get("backoffLimitPerIndex")) {
				r.Invalid(action, "requires the backoffLimitPerIndex to be set")
			}
		default:
			r.OnlyAmong(action, "Count", "FailIndex", "FailJob", "Ignore")
		}
		codes, conditions := rule.At("onExitCodes"), rule.At("onPodConditions")
		if codes.IsSet() {
			validateExitCodes(r, codes, &containers)
		}
		validateFailedConditions(r, conditions)
		switch {
		case codes.IsSet() && conditions.Len() > 0:
			r.InvalidAs(rule, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
		case !codes.IsSet() && conditions.Len() == 0:
			r.InvalidAs(rule, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

// validateFailedConditions validates which conditions of a pod a rule is about.
func validateFailedConditions(r *walk.Report, p walk.Place) {
	if p.Len() > 20 {
		r.Add(field.TooMany(p.Path(), p.Len(), 20))
	}
	for i := range p.Indexes() {
		c := p.Index(i)
		r.LabelKey(c.At("type"))
		if status := c.At("status"); status.Str() == "" {
			r.Required(status, `valid values: ["False" "True" "Unknown"]`)
		} else {
			r.OnlyAmong(status, "False", "True", "Unknown")
		}
	}
}

// validateExitCodes validates which exit codes a rule is about.
//
// Codes must be sorted and differ from each other. The code 0 is no failure, so it cannot be in a list of failures.
func validateExitCodes(r *walk.Report, p walk.Place, containers *walk.Names) {
	operator, name, values := p.At("operator"), p.At("containerName"), p.At("values")
	if operator.Str() == "" {
		r.Required(operator, `valid values: ["In" "NotIn"]`)
	} else {
		r.OnlyAmong(operator, "In", "NotIn")
	}
	if name.IsSet() && !containers.Has(name.Str()) {
		r.Invalid(name, "must be one of the container or initContainer names in the pod template")
	}
	switch n := values.Len(); {
	case n == 0:
		r.Invalid(values, "at least one value is required")
	case n > 255:
		r.Add(field.TooMany(values.Path(), n, 255))
	}
	met, ordered := map[int64]bool{}, true
	for i := range values.Indexes() {
		code := values.Index(i)
		if operator.Str() == "In" && code.Int() == 0 {
			r.InvalidAs(code, code.Int(), "must not be 0 for the In operator")
		}
		if met[code.Int()] {
			r.Add(field.Duplicate(code.Path(), code.Int()))
		}
		met[code.Int()] = true
		ordered = ordered && (i == 0 || values.Item(i-1).Int() <= code.Int())
	}
	if !ordered {
		r.Invalid(values, "must be ordered")
	}
}

// validateSuccessPolicy validates when an indexed job succeeds early.
func validateSuccessPolicy(r *walk.Report, policy walk.Place, completions int64) {
	rules := policy.At("rules")
	if rules.Len() == 0 {
		r.Required(rules, "at least one rules must be specified when the successPolicy is specified")
	}
	if rules.Len() > 20 {
		r.Add(field.TooMany(rules.Path(), rules.Len(), 20))
	}
	for i := range rules.Indexes() {
		validateSuccessRule(r, rules.Index(i), completions)
	}
}

// validateSuccessRule validates a rule: how many indexes have to succeed, which ones, or how many of which.
func validateSuccessRule(r *walk.Report, p walk.Place, completions int64) {
	count, indexes := p.At("succeededCount"), p.At("succeededIndexes")
	if !count.IsSet() && !indexes.IsSet() {
		r.Required(p, "at least one of succeededCount or succeededIndexes must be specified")
	}
	total := int64(0)
	if indexes.IsSet() {
		if len(indexes.Str()) > 64*1024 {
			r.Add(field.TooLong(indexes.Path(), "", 64*1024))
		}
		var err error
		if total, err = countIndexes(indexes.Str(), completions); err != nil {
			r.Invalid(indexes, "error parsing succeededIndexes: "+err.Error())
		}
	}
	if !count.IsSet() {
		return
	}
	r.Natural(count)
	if count.Int() > completions {
		r.Invalid(count, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
	}
	if indexes.IsSet() && count.Int() > total {
		r.Invalid(count, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
	}
}

// countIndexes returns how many indexes a text such as 1,3-5 has, all below a number.
//
// Intervals must be in order and must not overlap. The error is that of the first part of the text that is wrong.
func countIndexes(text string, below int64) (total int64, err error) {
	if text == "" {
		return 0, nil
	}
	last := int64(-1)
	for part := range strings.SplitSeq(text, ",") {
		bounds, err := interval(part, below)
		if err != nil {
			return 0, err
		}
		if total > 0 && last >= bounds[0] {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, bounds[0])
		}
		total += bounds[1] - bounds[0] + 1
		last = bounds[1]
	}
	return total, nil
}

// interval returns the first and the last index of a text such as 3 or 3-5, which are below a number.
func interval(text string, below int64) (bounds [2]int64, err error) {
	ends := strings.Split(text, "-")
	if len(ends) > 2 {
		return bounds, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", text)
	}
	for i, end := range ends {
		n, err := strconv.Atoi(end)
		switch bounds[i] = int64(n); {
		case err != nil:
			return bounds, fmt.Errorf("cannot convert string to integer for index: %q", end)
		case bounds[i] >= below:
			return bounds, fmt.Errorf("too large index: %q", end)
		}
	}
	switch {
	case len(ends) == 1:
		bounds[1] = bounds[0]
	case bounds[0] >= bounds[1]:
		return bounds, fmt.Errorf("non-increasing order, previous: %d, current: %d", bounds[0], bounds[1])
	}
	return bounds, nil
}

// validateIndexLimits validates how many pods of an indexed job run, and fail.
//
// A job with very many indexes and a limit for each of them may run and fail fewer at a time.
func validateIndexLimits(r *walk.Report, spec walk.Place) {
	parallel, completions, failed := spec.At("parallelism"), spec.At("completions"), spec.At("maxFailedIndexes")
	if parallel.Int() > mostPods {
		r.Invalid(parallel, fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", mostPods))
	}
	if completions.IsSet() && failed.IsSet() && failed.Int() > completions.Int() {
		r.Invalid(failed, "must be less than or equal to completions")
	}
	if failed.Int() > mostPods {
		r.Invalid(failed, fmt.Sprintf("must be less than or equal to %d", mostPods))
	}
	if completions.Int() <= ManyIndexes || !walk.IsSet(spec.Get("backoffLimitPerIndex")) {
		return
	}
	const why = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if !failed.IsSet() {
		r.Required(failed, fmt.Sprintf("must be specified when completions is above %d", ManyIndexes))
	}
	for _, p := range [...]walk.Place{parallel, failed} {
		if p.Int() > MostOfMany {
			r.Invalid(p, fmt.Sprintf(why, MostOfMany, ManyIndexes))
		}
	}
}

// validateManagedBy validates the name of a controller.
func validateManagedBy(r *walk.Report, p walk.Place) {
	if !p.IsSet() {
		return
	}
	r.Errs = append(r.Errs, validation.IsDomainPrefixedPath(p.Path(), p.Str())...)
	if len(p.Str()) > longestManager {
		r.Add(field.TooLong(p.Path(), "", longestManager))
	}
}
