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

	"github.com/deed-project/deed/server/kinds/pods"
	"github.com/deed-project/deed/server/kinds/walk"
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
func validateJob(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	if !walk.IsSet(live) {
		validateGeneratedSelector(r, object, spec)
	}
	validateJobSpec(r, spec)
	selector := spec.At("selector")
	if !selector.IsSet() {
		r.Required(selector, "")
	}
	before := len(r.Errs)
	r.Selector(selector)
	if template := spec.At("template"); len(r.Errs) == before { // otherwise it selects nothing
		pods.ValidateLabelsSelected(r, template, selector.Value)
	}
	if walk.IsSet(live) {
		validateJobChange(r, spec, live.Get("spec"), waits(live))
	}
	if mode, n := spec.Text("completionMode"), spec.Get("completions").Int(); mode == "Indexed" && n > 0 {
		metadata := object.At("metadata")
		name := metadata.At("name")
		host := fmt.Sprintf("%s-%d", name.Str(), n-1)
		if len(validation.IsDNS1123Label(host)) > 0 {
			r.Invalid(name, "will not able to create pod with invalid DNS label: "+host)
		}
	}
}

// validateGeneratedSelector refuses labels of pods that are not those of their job, unless the client says that it selects pods itself.
func validateGeneratedSelector(r *walk.Report, object, spec walk.Place) {
	if spec.Get("manualSelector").Bool() || !walk.IsSet(spec.Get("selector")) {
		return
	}
	uid, name := object.Get("metadata", "uid"), value.String(object.Get("metadata", "name").Str())
	template := spec.At("template")
	metadata := template.At("metadata")
	labels := metadata.At("labels")
	for i := range jobUIDLabels {
		hasLabel(r, labels, jobUIDLabels[i], uid)
		hasLabel(r, labels, jobNameLabels[i], name)
	}
	var own []value.Member
	for i := range jobUIDLabels {
		own = append(own, value.Member{Name: jobUIDLabels[i], Value: uid}, value.Member{Name: jobNameLabels[i], Value: name})
	}
	selector := spec.At("selector")
	if _, err := metav1.LabelSelectorAsSelector(labelSelector(selector.Value)); err == nil && !walk.Selected(selector.Value, value.Object(own...)) {
		r.Invalid(selector, "`selector` not auto-generated")
	}
}

// hasLabel refuses labels without one that says what it should.
//
// The error shows all labels, as in kube-apiserver.
func hasLabel(r *walk.Report, labels walk.Place, name string, want value.Value) {
	label := labels.Below(labels.Get(name), name, walk.IsKey)
	switch detail := fmt.Sprintf("must be '%s'", want.Str()); {
	case !label.IsSet():
		r.Required(label, detail)
	case !label.Value.Equal(want):
		r.InvalidAs(label, labels.ToAny(), detail)
	}
}

// validateJobSpec refuses what a job does.
//
// It is also for the jobs of a CronJob.
func validateJobSpec(r *walk.Report, spec walk.Place) {
	for _, name := range [...]string{
		"parallelism", "completions", "activeDeadlineSeconds", "backoffLimit", "ttlSecondsAfterFinished", "backoffLimitPerIndex",
		"maxFailedIndexes",
	} {
		r.Natural(spec.At(name))
	}
	validateIndexed(r, spec)
	if policy := spec.At("podReplacementPolicy"); policy.IsSet() {
		if walk.IsSet(spec.Get("podFailurePolicy")) {
			r.OnlyAmong(policy, "Failed")
		} else {
			r.OnlyAmong(policy, "Failed", "TerminatingOrFailed")
		}
	}
	template := spec.At("template")
	pods.ValidateTemplate(r, template)
	pod := template.At("spec")
	switch restart := pod.At("restartPolicy"); restart.Str() {
	case "Always", "":
		r.Required(restart, `valid values: "OnFailure", "Never"`)
	case "OnFailure":
		if walk.IsSet(spec.Get("podFailurePolicy")) {
			r.Invalid(restart, `only "Never" is supported when podFailurePolicy is specified`)
		}
	default:
		r.OnlyAmong(restart, "OnFailure", "Never")
	}
}

// validateIndexed refuses what only jobs whose pods are counted have, and what these must have.
//
// The checks stand in the order of kube-apiserver, which does not follow the fields.
func validateIndexed(r *walk.Report, spec walk.Place) {
	mode := spec.At("completionMode")
	perIndex, failed := spec.At("backoffLimitPerIndex"), spec.At("maxFailedIndexes")
	if failed.IsSet() && !perIndex.IsSet() {
		r.Required(perIndex, "when maxFailedIndexes is specified")
	}
	validateManagedBy(r, spec.At("managedBy"))
	if mode.IsSet() {
		r.OnlyAmong(mode, "NonIndexed", "Indexed")
	}
	if mode.Str() == "Indexed" {
		if completions := spec.At("completions"); !completions.IsSet() {
			r.Required(completions, "when completion mode is Indexed")
		}
		validateIndexLimits(r, spec)
	} else if !mode.IsSet() || mode.Str() == "NonIndexed" {
		for _, p := range [...]walk.Place{perIndex, failed} {
			if p.IsSet() {
				r.Invalid(p, "requires indexed completion mode")
			}
		}
	}
	if policy := spec.At("podFailurePolicy"); policy.IsSet() {
		validateFailurePolicy(r, spec, policy)
	}
	switch policy := spec.At("successPolicy"); {
	case !policy.IsSet():
	case mode.Str() != "Indexed":
		r.Invalid(policy, "requires indexed completion mode")
	default:
		validateSuccessPolicy(r, policy, spec.Get("completions").Int())
	}
}

// validateJobChange refuses what may not change of a job. If it is mutable, its pods may change in part.
//
// An indexed job may change its completions together with its parallelism.
func validateJobChange(r *walk.Report, spec walk.Place, was value.Value, mutable bool) {
	switch completions := spec.At("completions"); {
	case spec.Text("completionMode") != "Indexed":
		r.Unchanged(completions, was.Get("completions"))
	case completions.IsSet() && !walk.Same(completions.Value, was.Get("completions")) && !completions.Equal(spec.Get("parallelism")):
		r.Invalid(completions, "can only be modified in tandem with spec.parallelism")
	}
	r.Unchanged(spec.At("selector"), was.Get("selector"))
	if template := spec.At("template"); mutable {
		validateWaitingTemplate(r, template.At("spec"), was.Get("template", "spec"))
	} else {
		r.Unchanged(template, was.Get("template"))
	}
	for _, name := range [...]string{"completionMode", "podFailurePolicy", "backoffLimitPerIndex", "managedBy", "successPolicy"} {
		r.Unchanged(spec.At(name), was.Get(name))
	}
}

// waits reports whether a job has no pods because it is suspended.
//
// A job that is suspended anew has begun, and waits only once its pods are gone.
func waits(job value.Value) bool {
	status := job.Get("status")
	begun := walk.IsSet(status.Get("startTime"))
	for c := range status.Get("conditions").Items() {
		begun = begun && !(c.Get("type").Str() == "Suspended" && c.Get("status").Str() == "True")
	}
	return job.Get("spec", "suspend").Bool() && !begun && status.Get("active").Int() == 0
}

// validateWaitingTemplate refuses changes of the pods of a job that waits, but of where they may run and of what they want of nodes.
//
// What may change is written to the old template, which must then equal the new one.
func validateWaitingTemplate(r *walk.Report, spec walk.Place, was value.Value) {
	for _, name := range [...]string{"nodeSelector", "tolerations", "schedulingGates"} {
		was = was.With(name, spec.Get(name))
	}
	if affinity := walk.WithMember(was.Get("affinity"), "nodeAffinity", spec.Get("affinity", "nodeAffinity")); affinity.Len() > 0 {
		was = was.With("affinity", affinity)
	}
	for _, list := range [...]string{"containers", "initContainers"} {
		was = was.With(list, withResources(was.Get(list), spec.Get(list)))
	}
	r.Unchanged(spec, was)
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

// maxCronName is how long the name of a CronJob may be: its jobs have eleven characters more.
const maxCronName = 52

// validateCronJob refuses a CronJob.
func validateCronJob(r *walk.Report, object walk.Place, live value.Value) {
	spec := object.At("spec")
	validateSchedule(r, spec, live.Get("spec"))
	r.Natural(spec.At("startingDeadlineSeconds"))
	if zone := spec.At("timeZone"); zone.IsSet() && !zone.Equal(live.Get("spec", "timeZone")) {
		validateTimeZone(r, zone)
	}
	r.Among(spec.At("concurrencyPolicy"), "Allow", "Forbid", "Replace")
	template := spec.At("jobTemplate")
	job := template.At("spec")
	validateJobSpec(r, job)
	if selector := job.At("selector"); selector.IsSet() {
		r.Invalid(selector, "`selector` will be auto-generated")
	}
	if manual := job.At("manualSelector"); manual.Bool() {
		r.NotSupported(manual, "nil", "false")
	}
	r.Natural(spec.At("successfulJobsHistoryLimit"))
	r.Natural(spec.At("failedJobsHistoryLimit"))
	metadata := object.At("metadata")
	if name := metadata.At("name"); !walk.IsSet(live) && len(name.Str()) > maxCronName {
		r.Invalid(name, fmt.Sprintf("must be no more than %d characters", maxCronName))
	}
}

// validateSchedule refuses when jobs are made. A time zone may be in it only if one was.
//
// An update may keep a time zone that was permitted when the object was created.
func validateSchedule(r *walk.Report, spec walk.Place, was value.Value) {
	p := spec.At("schedule")
	if p.Str() == "" {
		r.RequiredLater(p, "")
		return
	}
	if err := parseSchedule(p.Str()); err != nil {
		r.Invalid(p, err.Error())
	}
	if !strings.Contains(p.Str(), "TZ") {
		return
	}
	if !strings.Contains(was.Get("schedule").Str(), "TZ") {
		r.Invalid(p, "cannot use TZ or CRON_TZ in schedule, use timeZone field instead")
	} else if walk.IsSet(spec.Get("timeZone")) {
		r.Invalid(p, "cannot use both timeZone field and TZ or CRON_TZ in schedule")
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
var zoneCharacters = walk.LazyRegexp(`^[A-Za-z\.\-_0-9+]{1,14}$`)

// validateTimeZone refuses a name of no time zone.
//
// The characters are checked before the zone is looked up, so that the name cannot lead out of the database of zones.
func validateTimeZone(r *walk.Report, p walk.Place) {
	if p.Str() == "" {
		r.Invalid(p, "timeZone must be nil or non-empty string")
		return
	}
	for part := range strings.SplitSeq(p.Str(), "/") {
		if part == "." || part == ".." || strings.HasPrefix(part, "-") || !zoneCharacters().MatchString(part) {
			r.Invalid(p, "unknown time zone "+p.Str())
			return
		}
	}
	if strings.EqualFold(p.Str(), "Local") {
		r.Invalid(p, "timeZone must be an explicit time zone as defined in https://www.iana.org/time-zones")
	}
	if _, err := time.LoadLocation(p.Str()); err != nil {
		r.Invalid(p, err.Error())
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

// Limits of indexed jobs.
const (
	mostPods       = 100_000
	manyIndexes    = 100_000
	mostOfMany     = 10_000
	longestManager = 63
)

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
	if completions.Int() <= manyIndexes || !walk.IsSet(spec.Get("backoffLimitPerIndex")) {
		return
	}
	const why = "must be less than or equal to %d when completions are above %d and used with backoff limit per index"
	if !failed.IsSet() {
		r.Required(failed, fmt.Sprintf("must be specified when completions is above %d", manyIndexes))
	}
	for _, p := range [...]walk.Place{parallel, failed} {
		if p.Int() > mostOfMany {
			r.Invalid(p, fmt.Sprintf(why, mostOfMany, manyIndexes))
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
