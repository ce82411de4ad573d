package kinds

import (
	"fmt"
	"strconv"
	"strings"

	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// What jobs do about the pods that fail or succeed. The limits below keep the status of a job from growing too large: it lists indexes.

// failurePolicy validates what a job does about pods that fail.
func (r *report) failurePolicy(spec, policy place) {
	rules := policy.at("rules")
	if rules.Len() > 20 {
		r.add(field.TooMany(rules.path(), rules.Len(), 20))
	}
	// Exit codes may be about containers and init containers, not about ephemeral ones.
	var containers names
	for _, list := range [...]string{"containers", "initContainers"} {
		for c := range spec.Get("template", "spec", list).Items() {
			containers.add(c.Get("name").Str())
		}
	}
	for i := range rules.indexes() {
		rule := rules.item(i)
		switch action := rule.at("action"); action.Str() {
		case "":
			r.required(action, `valid values: ["Count" "FailIndex" "FailJob" "Ignore"]`)
		case "FailIndex":
			if !isSet(spec.Get("backoffLimitPerIndex")) {
				r.invalid(action, "requires the backoffLimitPerIndex to be set")
			}
		default:
			r.onlyAmong(action, "Count", "FailIndex", "FailJob", "Ignore")
		}
		codes, conditions := rule.at("onExitCodes"), rule.at("onPodConditions")
		if codes.is() {
			r.exitCodes(codes, &containers)
		}
		r.failedConditions(conditions)
		switch {
		case codes.is() && conditions.Len() > 0:
			r.invalidAs(rule, field.OmitValueType{}, "specifying both OnExitCodes and OnPodConditions is not supported")
		case !codes.is() && conditions.Len() == 0:
			r.invalidAs(rule, field.OmitValueType{}, "specifying one of OnExitCodes and OnPodConditions is required")
		}
	}
}

// failedConditions validates which conditions of a pod a rule is about.
func (r *report) failedConditions(p place) {
	if p.Len() > 20 {
		r.add(field.TooMany(p.path(), p.Len(), 20))
	}
	for i := range p.indexes() {
		c := p.item(i)
		r.labelKey(c.at("type"))
		if status := c.at("status"); status.Str() == "" {
			r.required(status, `valid values: ["False" "True" "Unknown"]`)
		} else {
			r.onlyAmong(status, "False", "True", "Unknown")
		}
	}
}

// exitCodes validates which exit codes a rule is about.
//
// Codes must be sorted and differ from each other. The code 0 is no failure, so it cannot be in a list of failures.
func (r *report) exitCodes(p place, containers *names) {
	operator, name, values := p.at("operator"), p.at("containerName"), p.at("values")
	if operator.Str() == "" {
		r.required(operator, `valid values: ["In" "NotIn"]`)
	} else {
		r.onlyAmong(operator, "In", "NotIn")
	}
	if name.is() && !containers.has(name.Str()) {
		r.invalid(name, "must be one of the container or initContainer names in the pod template")
	}
	switch n := values.Len(); {
	case n == 0:
		r.invalid(values, "at least one value is required")
	case n > 255:
		r.add(field.TooMany(values.path(), n, 255))
	}
	met, ordered := map[int64]bool{}, true
	for i := range values.indexes() {
		code := values.item(i)
		if operator.Str() == "In" && code.Int() == 0 {
			r.invalidAs(code, code.Int(), "must not be 0 for the In operator")
		}
		if met[code.Int()] {
			r.add(field.Duplicate(code.path(), code.Int()))
		}
		met[code.Int()] = true
		ordered = ordered && (i == 0 || values.Item(i-1).Int() <= code.Int())
	}
	if !ordered {
		r.invalid(values, "must be ordered")
	}
}

// successPolicy validates when an indexed job succeeds early.
func (r *report) successPolicy(policy place, completions int64) {
	rules := policy.at("rules")
	if rules.Len() == 0 {
		r.required(rules, "at least one rules must be specified when the successPolicy is specified")
	}
	if rules.Len() > 20 {
		r.add(field.TooMany(rules.path(), rules.Len(), 20))
	}
	for i := range rules.indexes() {
		r.successRule(rules.item(i), completions)
	}
}

// successRule validates a rule: how many indexes have to succeed, which ones, or how many of which.
func (r *report) successRule(p place, completions int64) {
	count, indexes := p.at("succeededCount"), p.at("succeededIndexes")
	if !count.is() && !indexes.is() {
		r.required(p, "at least one of succeededCount or succeededIndexes must be specified")
	}
	total := int64(0)
	if indexes.is() {
		if len(indexes.Str()) > 64*1024 {
			r.add(field.TooLong(indexes.path(), "", 64*1024))
		}
		var err error
		if total, err = countIndexes(indexes.Str(), completions); err != nil {
			r.invalid(indexes, "error parsing succeededIndexes: "+err.Error())
		}
	}
	if !count.is() {
		return
	}
	r.natural(count)
	if count.Int() > completions {
		r.invalid(count, fmt.Sprintf("must be less than or equal to %d (the number of specified completions)", completions))
	}
	if indexes.is() && count.Int() > total {
		r.invalid(count, fmt.Sprintf("must be less than or equal to %d (the number of indexes in the specified succeededIndexes field)", total))
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
	for interval := range strings.SplitSeq(text, ",") {
		ends := strings.Split(interval, "-")
		if len(ends) > 2 {
			return 0, fmt.Errorf("the fragment %q violates the requirement that an index interval can have at most two parts separated by '-'", interval)
		}
		var bounds [2]int64
		for i, end := range ends {
			n, err := strconv.Atoi(end)
			switch bounds[i] = int64(n); {
			case err != nil:
				return 0, fmt.Errorf("cannot convert string to integer for index: %q", end)
			case bounds[i] >= below:
				return 0, fmt.Errorf("too large index: %q", end)
			}
		}
		switch {
		case len(ends) == 1:
			bounds[1] = bounds[0]
		case bounds[0] >= bounds[1]:
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", bounds[0], bounds[1])
		}
		if total > 0 && last >= bounds[0] {
			return 0, fmt.Errorf("non-increasing order, previous: %d, current: %d", last, bounds[0])
		}
		total += bounds[1] - bounds[0] + 1
		last = bounds[1]
	}
	return total, nil
}

// Limits of indexed jobs.
const (
	mostPods       = 100_000
	manyIndexes    = 100_000
	mostOfMany     = 10_000
	longestManager = 63
)

// indexLimits validates how many pods of an indexed job run, and fail.
//
// A job with very many indexes and a limit for each of them may run and fail fewer at a time.
func (r *report) indexLimits(spec place) {
	parallel, completions, failed := spec.at("parallelism"), spec.at("completions"), spec.at("maxFailedIndexes")
	if parallel.Int() > mostPods {
		r.invalid(parallel, fmt.Sprintf("must be less than or equal to %d when completion mode is Indexed", mostPods))
	}
	if completions.is() && failed.is() && failed.Int() > completions.Int() {
		r.invalid(failed, "must be less than or equal to completions")
	}
	if failed.Int() > mostPods {
		r.invalid(failed, fmt.Sprintf("must be less than or equal to %d", mostPods))
	}
	if completions.Int() <= manyIndexes || !isSet(spec.Get("backoffLimitPerIndex")) {
		return
	}
	const why = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if !failed.is() {
		r.required(failed, fmt.Sprintf("must be specified when completions is above %d", manyIndexes))
	}
	for _, p := range [...]place{parallel, failed} {
		if p.Int() > mostOfMany {
			r.invalid(p, fmt.Sprintf(why, mostOfMany, manyIndexes))
		}
	}
}

// managedBy validates the name of a controller.
func (r *report) managedBy(p place) {
	if !p.is() {
		return
	}
	r.errs = append(r.errs, validation.IsDomainPrefixedPath(p.path(), p.Str())...)
	if len(p.Str()) > longestManager {
		r.add(field.TooLong(p.path(), "", longestManager))
	}
}
