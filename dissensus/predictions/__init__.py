"""The models' predictions for the pool: the Model protocol, top-1 predictions, alignment and the plurality vote."""
