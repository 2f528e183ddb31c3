"""Addresses of the pages. All but those of logging in ask for a login; what changes anything is POST."""

from django.urls import path

from dashboard.views import (
    instance_list,
    instances,
    job_form_parts,
    jobs,
    live,
    new_job,
    nodes,
    overview,
    schedules,
    selection,
)

urlpatterns = [
    path("", overview.overview, name="overview"),
    path("jobs/", jobs.job_list, name="jobs"),
    path("jobs/new/", new_job.new_job, name="new-job"),
    path("jobs/selection/", selection.act_on_jobs, name="jobs-selection"),
    path("jobs/preview/", job_form_parts.preview, name="preview"),
    path("jobs/preview/environment/", job_form_parts.surroundings, name="preview-environment"),
    path("jobs/try/", job_form_parts.try_out, name="try-job"),
    path("jobs/try/<int:instance_id>/", job_form_parts.tried, name="tried"),
    path("jobs/<int:job_id>/", jobs.job, name="job"),
    path("jobs/<int:job_id>/edit/", new_job.edit_job, name="edit-job"),
    path("jobs/<int:job_id>/run/", jobs.run, name="run-job"),
    path("jobs/<int:job_id>/pause/", jobs.pause, name="pause-job"),
    path("jobs/<int:job_id>/resume/", jobs.resume, name="resume-job"),
    path("jobs/<int:job_id>/delete/", jobs.delete, name="delete-job"),
    path("schedules/", schedules.schedules, name="schedules"),
    path("instances/", instance_list.instance_list, name="instances"),
    path("instances/bulk/", instance_list.bulk, name="bulk"),
    path("instances/operations/<int:operation_id>/", instance_list.operation, name="operation"),
    path("instances/operations/<int:operation_id>/stop/", instance_list.stop, name="stop-operation"),
    path("instances/operations/<int:operation_id>/continue/", instance_list.resume, name="continue-operation"),
    path("instances/<int:instance_id>/", instances.instance, name="instance"),
    path("instances/<int:instance_id>/cancel/", instances.cancel, name="cancel-instance"),
    path("instances/<int:instance_id>/retry/", instances.retry, name="retry-instance"),
    path("instances/<int:instance_id>/log/", instances.log_part, name="log"),
    path("instances/<int:instance_id>/log/download/", instances.download, name="download-log"),
    path("nodes/", nodes.node_list, name="nodes"),
    path("nodes/<int:node_id>/", nodes.node, name="node"),
    path("nodes/<int:node_id>/drain/", nodes.drain, name="drain-node"),
    path("nodes/<int:node_id>/undrain/", nodes.undrain, name="undrain-node"),
    path("live/rows/", live.rows, name="live-rows"),
]
