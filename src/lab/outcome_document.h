// What an experiment found, as one JSON document (schema "react.lab/1", docs/lab.md) and as a timeline picture.
#pragma once

#include <string>
#include <vector>

#include "lab/experiment.h"
#include "lab/experiment_config.h"

namespace react::lab {

// Of several runs of one configuration: the document of the run with the median ratio_mean, with all runs under "runs".
// At least one run.
std::string to_json(const ExperimentConfig& config, const std::vector<Outcome>& runs);

// The run that stands for all: the one whose ratio_mean is the (lower) median.
const Outcome& median_run(const std::vector<Outcome>& runs);

std::string timeline_of(const ExperimentConfig& config, const Outcome& outcome);  // SVG

// "AllReduce, double-tree, 8 ranks, 20 MiB" and "star of 500 Mbit/s links, cubic, 256 KiB queues; ..."
std::string describe_job(const ExperimentConfig& config);
std::string describe_cluster(const ExperimentConfig& config);

}  // namespace react::lab
