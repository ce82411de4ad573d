package kinds

import (
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/robfig/cron/v3"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/duration"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/deed-project/deed/value"
)

// Jobs and CronJobs. A job selects its pods by its own UID, which the server writes to the selector and to the labels of the template:
//
//	spec.selector.matchLabels        batch.kubernetes.io/controller-uid: UID
//	spec.template.metadata.labels    controller-uid and batch.kubernetes.io/controller-uid: UID
//	                                 job-name and batch.kubernetes.io/job-name: NAME
//
// With manualSelector, the client writes both. The labels without a prefix are those of earlier releases.

// Labels by which a job knows its pods: what they are of, and what it is called, by their names of today and before.
var (
	jobUIDLabels  = []string{"controller-uid", "batch.kubernetes.io/controller-uid"}
	jobNameLabels = []string{"job-name", "batch.kubernetes.io/job-name"}
)

// validateJob refuses a Job.
//
// Pods of an indexed job have the index behind the name of the job, so the longest of them must be a DNS label.
func validateJob(r *report, object place, live value.Value) {
	spec := object.at("spec")
	if !isSet(live) {
		r.generatedSelector(object, spec)
	}
	r.jobSpec(spec)
	selector := spec.at("selector")
	if !selector.is() {
		r.required(selector, "")
	}
	before := len(r.errs)
	r.selector(selector)
	if template := spec.at("template"); len(r.errs) == before { // otherwise it selects nothing
		r.labelsSelected(template, selector.Value)
	}
	if isSet(live) {
		r.jobChange(spec, live.Get("spec"), waits(live))
	}
	if mode, n := spec.text("completionMode"), spec.Get("completions").Int(); mode == "Indexed" && n > 0 {
		metadata := object.at("metadata")
		name := metadata.at("name")
		host := fmt.Sprintf("%s-%d", name.Str(), n-1)
		if len(validation.IsDNS1123Label(host)) > 0 {
			r.invalid(name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

// generatedSelector refuses labels of pods that are not those of their job, unless the client says that it selects pods itself.
func (r *report) generatedSelector(object, spec place) {
	if spec.Get("manualSelector").Bool() || !isSet(spec.Get("selector")) {
		return
	}
	uid, name := object.Get("metadata", "uid"), value.String(object.Get("metadata", "name").Str())
	template := spec.at("template")
	metadata := template.at("metadata")
	labels := metadata.at("labels")
	for i := range jobUIDLabels {
		r.hasLabel(labels, jobUIDLabels[i], uid)
		r.hasLabel(labels, jobNameLabels[i], name)
	}
	var own []value.Member
	for i := range jobUIDLabels {
		own = append(own, value.Member{Name: jobUIDLabels[i], Value: uid}, value.Member{Name: jobNameLabels[i], Value: name})
	}
	selector := spec.at("selector")
	if _, err := metav1.LabelSelectorAsSelector(labelSelector(selector.Value)); err == nil && !selected(selector.Value, value.Object(own...)) {
		r.invalid(selector, "`selector` not auto-generated")
	}
}

// hasLabel refuses labels without one that says what it should.
//
// The error shows all labels, as in kube-apiserver.
func (r *report) hasLabel(labels place, name string, want value.Value) {
	label := labels.below(labels.Get(name), name, isKey)
	switch detail := fmt.Sprintf("must be '%s'", want.Str()); {
	case !label.is():
		r.required(label, detail)
	case !label.Value.Equal(want):
		r.invalidAs(label, labels.ToAny(), detail)
	}
}

// jobSpec refuses what a job does.
//
// It is also for the jobs of a CronJob.
func (r *report) jobSpec(spec place) {
	for _, name := range [...]string{
		"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex",
		"maxFailedIndexes",
	} {
		r.natural(spec.at(name))
	}
	r.indexed(spec)
	if policy := spec.at("podReplacementPolicy"); policy.is() {
		if isSet(spec.Get("podFailurePolicy")) {
			r.onlyAmong(policy, "Failed")
		} else {
			r.onlyAmong(policy, "Failed", "TerminatingOrFailed")
		}
	}
	template := spec.at("template")
	r.template(template)
	pod := template.at("spec")
	switch restart := pod.at("restartPolicy"); restart.Str() {
	case "Always", "":
		r.required(restart, `valid values: "OnFailure", "Never"`)
	case "OnFailure":
		if isSet(spec.Get("podFailurePolicy")) {
			r.invalid(restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	default:
		r.onlyAmong(restart, "OnFailure", "Never")
	}
}

// indexed refuses what only jobs whose pods are counted have, and what these must have.
//
// The checks stand in the order of kube-apiserver, which does not follow the fields.
func (r *report) indexed(spec place) {
	mode := spec.at("completionMode")
	perIndex, failed := spec.at("backoffLimitPerIndex"), spec.at("maxFailedIndexes")
	if failed.is() && !perIndex.is() {
		r.required(perIndex, "when maxFailedIndexes is specified")
	}
	r.managedBy(spec.at("managedBy"))
	if mode.is() {
		r.onlyAmong(mode, "NonIndexed", "Indexed")
	}
	if mode.Str() == "Indexed" {
		if completions := spec.at("completions"); !completions.is() {
			r.required(completions, "when completion mode is Indexed")
		}
		r.indexLimits(spec)
	} else if !mode.is() || mode.Str() == "NonIndexed" {
		for _, p := range [...]place{perIndex, failed} {
			if p.is() {
				r.invalid(p, "requires indexed completion mode")
			}
		}
	}
	if policy := spec.at("podFailurePolicy"); policy.is() {
		r.failurePolicy(spec, policy)
	}
	switch policy := spec.at("successPolicy"); {
	case !policy.is():
	case mode.Str() != "Indexed":
		r.invalid(policy, "requires indexed completion mode")
	default:
		r.successPolicy(policy, spec.Get("completions").Int())
	}
}

// jobChange refuses what may not change of a job. If it is mutable, its pods may change in part.
//
// An indexed job may change its completions together with its parallelism.
func (r *report) jobChange(spec place, was value.Value, mutable bool) {
	switch completions := spec.at("completions"); {
	case spec.text("completionMode") != "Indexed":
		r.unchanged(completions, was.Get("completions"))
	case completions.is() && !same(completions.Value, was.Get("completions")) && !completions.Equal(spec.Get("parallelism")):
		r.invalid(completions, "can only be modified in tandem with spec.parallelism")
	}
	r.unchanged(spec.at("selector"), was.Get("selector"))
	if template := spec.at("template"); mutable {
		r.waitingTemplate(template.at("spec"), was.Get("template", "spec"))
	} else {
		r.unchanged(template, was.Get("template"))
	}
	for _, name := range [...]string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		r.unchanged(spec.at(name), was.Get(name))
	}
}

// waits reports whether a job has no pods because it is suspended.
//
// A job that is suspended anew has begun, and waits only once its pods are gone.
func waits(job value.Value) bool {
	status := job.Get("status")
	begun := isSet(status.Get("startTime"))
	for c := range status.Get("conditions").Items() {
		begun = begun && !(c.Get("type").Str() == "Suspended" && c.Get("status").Str() == "True")
	}
	return job.Get("spec", "suspend").Bool() && !begun && status.Get("active").Int() == 0
}

// waitingTemplate refuses changes of the pods of a job that waits, but of where they may run and of what they want of nodes.
//
// What may change is written to the old template, which must then equal the new one.
func (r *report) waitingTemplate(spec place, was value.Value) {
	for _, name := range [...]string{"nodeSelector", "tolerations", "schedulingGates"} {
		was = was.With(name, spec.Get(name))
	}
	if affinity := with(was.Get("affinity"), "nodeAffinity", spec.Get("affinity", "nodeAffinity")); affinity.Len() > 0 {
		was = was.With("affinity", affinity)
	}
	for _, list := range [...]string{"containers", "initContainers"} {
		was = was.With(list, withResources(was.Get(list), spec.Get(list)))
	}
	r.unchanged(spec, was)
}

// withResources returns containers that want what others want, each of which has the name of the one in its place.
func withResources(containers, others value.Value) value.Value {
	if containers.Len() != others.Len() || containers.Len() == 0 {
		return containers
	}
	var out []value.Value
	for i := range containers.Len() {
		c, other := containers.Item(i), others.Item(i)
		if c.Get("name").Equal(other.Get("name")) {
			c = c.With("resources", other.Get("resources"))
		}
		out = append(out, c)
	}
	return value.List(out...)
}

// with returns an object, which may be nothing yet, with a member.
func with(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// maxCronName is how long the name of a CronJob may be: its jobs have eleven characters more.
const maxCronName = 52

// validateCronJob refuses a CronJob.
func validateCronJob(r *report, object place, live value.Value) {
	spec := object.at("spec")
	r.schedule(spec, live.Get("spec"))
	r.natural(spec.at("startingDeadlineSeconds"))
	if zone := spec.at("timeZone"); zone.is() && !zone.Equal(live.Get("spec", "timeZone")) {
		r.timeZone(zone)
	}
	r.among(spec.at("concurrencyPolicy"), "Allow", "Forbid", "Replace")
	template := spec.at("jobTemplate")
	job := template.at("spec")
	r.jobSpec(job)
	if selector := job.at("selector"); selector.is() {
		r.invalid(selector, "`selector` will be auto-generated")
	}
	if manual := job.at("manualSelector"); manual.Bool() {
		r.notSupported(manual, "nil", "false")
	}
	r.natural(spec.at("successfulJobsHistoryLimit"))
	r.natural(spec.at("failedJobsHistoryLimit"))
	metadata := object.at("metadata")
	if name := metadata.at("name"); !isSet(live) && len(name.Str()) > maxCronName {
		r.invalid(name, fmt.Sprintf("must be no more than %d characters", maxCronName))
	}
}

// schedule refuses when jobs are made. A time zone may be in it only if one was.
//
// An update may keep a time zone that was permitted when the object was created.
func (r *report) schedule(spec place, was value.Value) {
	p := spec.at("schedule")
	if p.Str() == "" {
		r.later(p, "")
		return
	}
	if err := parseSchedule(p.Str()); err != nil {
		r.invalid(p, err.Error())
	}
	if !strings.Contains(p.Str(), "TZ") {
		return
	}
	if !strings.Contains(was.Get("schedule").Str(), "TZ") {
		r.invalid(p, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	} else if isSet(spec.Get("timeZone")) {
		r.invalid(p, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
	}
}

// parseSchedule returns why a text is no schedule. The library panics at some.
func parseSchedule(text string) (err error) {
	defer func() {
		if problem := recover(); problem != nil {
			err = fmt.Errorf("invalid schedule format: %v", problem)
		}
	}()
	_, err = cron.ParseStandard(text)
	return err
}

// zoneCharacters are those that a part of the name of a time zone may have.
var zoneCharacters = lazyRegexp(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// timeZone refuses a name of no time zone.
//
// The characters are checked before the zone is looked up, so that the name cannot lead out of the database of zones.
func (r *report) timeZone(p place) {
	if p.Str() == "" {
		r.invalid(p, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zoneCharacters().MatchString(part) {
			r.invalid(p, "unknown time zone "+p.Str())
			return
		}
	}
	if strings.EqualFold(p.Str(), "Local") {
		r.invalid(p, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(p.Str()); err != nil {
		r.invalid(p, err.Error())
	}
}

// withSelector returns a new job that selects the pods with its UID and labels its pod template accordingly, unless manualSelector is set.
// It keeps labels that the client wrote. Validation refuses them if they differ. Labels of the job that are the template's by default share
// their storage, as in kube-apiserver, so that they get the new labels too.
func withSelector(job, live, uid value.Value) value.Value {
	spec := job.Get("spec")
	if !live.IsAbsent() || spec.Get("manualSelector").Bool() {
		return job
	}
	template := spec.Get("template")
	metadata := template.Get("metadata")
	labels := metadata.Get("labels")
	shared := labels.Len() > 0 && job.Get("metadata", "labels").Same(labels)
	for i := range jobUIDLabels {
		labels = withDefault(labels, jobNameLabels[i], value.String(job.Get("metadata", "name").Str()))
		labels = withDefault(labels, jobUIDLabels[i], uid)
	}
	selector := spec.Get("selector")
	asked := withDefault(selector.Get("matchLabels"), jobUIDLabels[1], uid)
	spec = spec.With("selector", member(selector, "matchLabels", asked))
	if shared {
		job = job.With("metadata", job.Get("metadata").With("labels", labels))
	}
	return job.With("spec", spec.With("template", member(template, "metadata", member(metadata, "labels", labels))))
}

// withDefault returns object with a member, unless object has that member already.
func withDefault(object value.Value, name string, v value.Value) value.Value {
	if !object.Get(name).IsAbsent() {
		return object
	}
	return member(object, name, v)
}

// member returns object, which may be absent, with a member.
func member(object value.Value, name string, v value.Value) value.Value {
	if object.Kind() != value.KindObject {
		object = value.Object()
	}
	return object.With(name, v)
}

// jobStatus shows the first condition of a job that is true, by their weight.
func jobStatus(s source) string {
	switch {
	case hasCondition(s.Value, "Complete"):
		return "Complete"
	case hasCondition(s.Value, "Failed"):
		return "Failed"
	case !s.Get("metadata", "deletionTimestamp").IsAbsent():
		return "Terminating"
	}
	for _, typ := range []string{"Suspended", "FailureTarget", "SuccessCriteriaMet"} {
		if hasCondition(s.Value, typ) {
			return typ
		}
	}
	return "Running"
}

// jobCompletions shows how many pods succeeded, of how many.
func jobCompletions(s source) string {
	succeeded, parallelism := s.Get("status", "succeeded").Int(), s.Get("spec", "parallelism").Int()
	switch wanted := s.Get("spec", "completions"); {
	case wanted.Kind() == value.KindInt:
		return fmt.Sprintf("%d/%d", succeeded, wanted.Int())
	case parallelism > 1:
		return fmt.Sprintf("%d/1 of %d", succeeded, parallelism)
	}
	return fmt.Sprintf("%d/1", succeeded)
}

// jobDuration shows how long a job ran, or runs until now.
func jobDuration(s source) string {
	begin, begun := instant(s.Get("status", "startTime"))
	if !begun {
		return ""
	}
	end, ended := instant(s.Get("status", "completionTime"))
	if !ended {
		end = s.now
	}
	return duration.HumanDuration(end.Sub(begin))
}

// suspended shows whether a CronJob is suspended, as its Go type prints it.
func suspended(s source) string {
	switch suspend := s.Get("spec", "suspend"); {
	case suspend.Kind() != value.KindBool:
		return unset
	case suspend.Bool():
		return "True"
	}
	return "False"
}

// lastSchedule shows how long ago a CronJob made its last job.
func lastSchedule(s source) string {
	if last := s.Get("status", "lastScheduleTime"); last.Kind() == value.KindString {
		return s.since(last)
	}
	return none
}

func jobCells() []cell {
	return []cell{
		name, shown(jobStatus), shown(jobCompletions), shown(jobDuration), age, containers("spec", "template"), images("spec", "template"),
		selectorOf("spec", "selector"),
	}
}

func cronJobCells() []cell {
	return []cell{
		name, text("spec", "schedule"), textOr(none, "spec", "timeZone"), shown(suspended), count("status", "active"), shown(lastSchedule), age,
		containers("spec", "jobTemplate", "spec", "template"), images("spec", "jobTemplate", "spec", "template"),
		selectorOf("spec", "jobTemplate", "spec", "selector"),
	}
}

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
