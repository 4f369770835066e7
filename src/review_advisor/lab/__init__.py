"""What a team needs that studies its reviews: golden cases, evaluation, calibration, replay."""
